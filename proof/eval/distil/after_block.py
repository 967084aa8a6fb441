#!/usr/bin/env python3
"""How many follow-ups are told in one memory of all cases when a session begins with its block?

  after_block.py EVAL --bin DIR [--json OUT]

EVAL is the folder of the distil set with score.py and cases/, DIR holds claude-mem and claude-mem-hook. All cases are played into
one project; then each follow-up is asked in a session of its own that got its start block. All blocks are asked for before the
first prompt, so that no block has these prompts. A follow-up is told when the block or the line beside the prompt matches it.
The unrelated prompts of the cases are asked in the same way: each should get nothing."""
import argparse, json, os, shutil, sys, tempfile, uuid

a = argparse.ArgumentParser()
a.add_argument('eval'); a.add_argument('--bin', required=True); a.add_argument('--json'); a.add_argument('--timeout', type=float, default=60)
o = a.parse_args()
sys.path.insert(0, o.eval)
sys.dont_write_bytecode = True  # nothing is written into the set
import score

folder = os.path.join(o.eval, 'cases')
folders = [os.path.join(folder, n) for n in sorted(os.listdir(folder)) if os.path.exists(os.path.join(folder, n, 'key.json'))]
top = tempfile.mkdtemp(prefix='distil-')
m = score.Memory(os.path.abspath(o.bin), 'offline', os.path.realpath(top))
try:
    score.start(m)
    for f in folders: score.replay(m, f, o.timeout)
    if not m.drain(o.timeout): sys.exit('the queue did not get empty')
    keys = [json.load(open(os.path.join(f, 'key.json'), encoding='utf-8')) for f in folders]
    probes = [(x, str(uuid.uuid4())) for k in keys for x in k['followups']]
    others = [(prompt, str(uuid.uuid4())) for k in keys for prompt in k['unrelated']]
    for _, sid in others: m.event('context', 'SessionStart', sid, source='startup')
    blocks = [score.told(m.event('context', 'SessionStart', sid, source='startup')) for _, sid in probes]
    by_block = by_line = lines = right = 0
    for (x, sid), block in zip(probes, blocks):
        line = score.ask(m, x['prompt'], [sid, sid])
        told = score.find(x['any'], line)
        lines, right = lines + bool(line), right + bool(told)
        if score.find(x['any'], block): by_block += 1
        elif told: by_line += 1
    given = sum(bool(score.ask(m, prompt, [sid, sid])) for prompt, sid in others)
finally:
    m.stop()
    shutil.rmtree(top, ignore_errors=True)
print('%d follow-ups after a start block: %d told by the block, %d by the line' % (len(probes), by_block, by_line))
print('%d of them got a line, %d with the answer; %d of %d unrelated prompts got one' % (lines, right, given, len(others)))
if o.json:
    with open(o.json, 'w', encoding='utf-8') as f: json.dump(dict(asked=len(probes), told=by_block + by_line), f)
