#!/usr/bin/env python3
"""What does the observing model see of the cases? Plays them through a stand-in of the Messages API and looks at the requests.

  requests.py EVAL --bin DIR --standin FILE [--only NAME,…] [--provider anthropic] [--keep FOLDER] [--json OUT] [--jobs N]

EVAL is the folder of the distil set with score.py and cases/. DIR holds claude-mem and claude-mem-hook, FILE is the built
fakeanthropic. Each case has a memory and a stand-in of its own, which gives every request the same short answer. Measured: how many
calls a turn takes, the size of the requests, the share of the things to remember (causes, decisions, cures, rules, next steps) whose
words stand in a request of their turn, and how often the shared beginning of the requests could come from the vendor's cache.
--keep writes the text of each request to FOLDER/CASE-N.request.txt."""
import argparse, concurrent.futures, json, os, re, shutil, subprocess, sys, tempfile, threading, time

a = argparse.ArgumentParser()
a.add_argument('eval'); a.add_argument('--bin', required=True); a.add_argument('--standin', required=True); a.add_argument('--only')
a.add_argument('--provider', default='anthropic'); a.add_argument('--keep'); a.add_argument('--json'); a.add_argument('--jobs', type=int, default=2)
a.add_argument('--timeout', type=float, default=120)
o = a.parse_args()
sys.path.insert(0, o.eval)
sys.dont_write_bytecode = True  # nothing is written into the set
import score

KINDS = ('cause', 'decision', 'cure', 'rule', 'next')
ANSWER = ('<observation><type>discovery</type><title>What the turn was about, and what came of it</title><subtitle>The reason, in one sentence of the '
          'usual length</subtitle><facts><fact>A statement with a name and a number</fact></facts><narrative>Two sentences on how it works. They stand '
          'for what a model writes.</narrative></observation>\n<summary><request>What the user wanted</request><learned>What turned out</learned>'
          '<completed>What is done now</completed></summary>')
SCENARIO = {'rules': [{'name': 'observer', 'match': '(?i)observation', 'in': 'system', 'replies': [{'text': ANSWER}]}]}


def flat(content):
    return content if isinstance(content, str) else '\n'.join(b.get('text', '') for b in content)


def play(folder):
    """The requests of a case: number of the session, of its turn, text, bytes; and its key."""
    top = os.path.realpath(tempfile.mkdtemp(prefix='distil-'))
    log, url = os.path.join(top, 'log'), os.path.join(top, 'url')
    with open(os.path.join(top, 'scenario'), 'w') as f: json.dump(SCENARIO, f)
    standin = subprocess.Popen([os.path.abspath(o.standin), '-scenario', f.name, '-log', log, '-url-file', url, '-max-time', '15m'], stdout=subprocess.DEVNULL)
    m = None
    try:
        for _ in range(500):
            if os.path.exists(url): break
            time.sleep(0.02)
        address = open(url).read().strip()
        mine = {'CLAUDE_MEM_ANTHROPIC_BASE_URL': address, 'CLAUDE_MEM_ANTHROPIC_API_KEY': 'none', 'ANTHROPIC_BASE_URL': address, 'ANTHROPIC_API_KEY': 'none'}
        with lock: os.environ.update(mine); m = score.Memory(os.path.abspath(o.bin), o.provider, top)
        score.start(m)
        sessions = score.replay(m, folder, o.timeout)
        if not m.drain(o.timeout): raise RuntimeError('the queue of %s did not get empty' % folder)
    finally:
        if m: m.stop()
        standin.terminate(); standin.wait()
    got = []
    for line in open(log, encoding='utf-8') if os.path.exists(log) else []:
        e = json.loads(line); body = e.get('body') or {}
        if e['kind'] != 'rule': continue
        text = flat(body['messages'][-1]['content'])
        turn = re.search(r'<user_request number="(\d+)"', text.rpartition('</shown_before>')[2] or text)
        got.append(dict(turn=int(turn.group(1)) if turn else 0, model=body['model'], system=flat(body.get('system', '')), prompt=text,
                        text='\n'.join(flat(x['content']) for x in body['messages']), bytes=len(json.dumps(body, ensure_ascii=False, separators=(',', ':')).encode()),
                        marks=json.dumps(body).count('"cache_control"')))
    shutil.rmtree(top, ignore_errors=True)
    n = 1
    for i, r in enumerate(got):  # sessions come one after the other; a lower number begins the next
        if i and r['turn'] < got[i - 1]['turn'] or i and r['turn'] == got[i - 1]['turn'] == 1 and r['prompt'] != got[i - 1]['prompt'] and len(sessions) > n: n += 1
        r['session'] = n
    return got


lock = threading.Lock()
folder = os.path.join(o.eval, 'cases')
names = [n for n in sorted(os.listdir(folder)) if os.path.exists(os.path.join(folder, n, 'session.jsonl')) and (not o.only or n in o.only.split(','))]
with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
    requests = dict(zip(names, pool.map(lambda n: play(os.path.join(folder, n)), names)))
if o.keep:
    os.makedirs(o.keep, exist_ok=True)
    for name in names:
        for i, r in enumerate(requests[name], 1):
            with open(os.path.join(o.keep, '%s-%d.request.txt' % (name, i)), 'w', encoding='utf-8') as f: f.write(r['system'] + '\n\n=== \n\n' + r['text'])

calls, found, wanted, missing = {}, 0, 0, []
for name in names:
    for r in requests[name]: calls[name, r['session'], r['turn']] = calls.get((name, r['session'], r['turn']), 0) + 1
    path = os.path.join(folder, name, 'key.json')
    if o.keep or not os.path.exists(path): continue  # who answers the requests does not see the keys
    for t in json.load(open(path, encoding='utf-8'))['turns']:
        seen = '\n'.join(r['text'] for r in requests[name] if (r['session'], r['turn']) == (t['session'], t['prompt_number']))
        for x in t['remember']:
            if x['kind'] not in KINDS: continue
            wanted += 1
            if score.find(x['any'], seen): found += 1
            else: missing.append('%s S%d turn %d %s: %s' % (name, t['session'], t['prompt_number'], x['kind'], x['what']))
hits = {}  # by the shortest beginning that a vendor caches, in tokens of 3.5 characters: requests that begin as an earlier one does
for least in (512, 1024, 2048, 4096):
    known = set()
    for r in (r for n in names for r in requests[n]):
        if len(r['system']) / 3.5 < least: continue
        hits[least] = hits.get(least, 0) + (r['system'] in known)
        known.add(r['system'])
sizes = sorted(r['bytes'] for n in names for r in requests[n])
shared = {r['system'] for n in names for r in requests[n]}
one = sum(1 for c in calls.values() if c == 1)
print('%d requests for %d turns; one call in %d (%.2f)' % (len(sizes), len(calls), one, one / max(len(calls), 1)))
print('bytes: mean %d, median %d, largest %d; shared beginning: %d variants, %d bytes; cache marks on the first request of a run: %s' % (
    sum(sizes) / max(len(sizes), 1), sizes[len(sizes) // 2] if sizes else 0, sizes[-1] if sizes else 0, len(shared), max(map(len, shared), default=0),
    sorted({r['marks'] for n in names for r in requests[n] if '<shown_before>' not in r['text']})))
print('cache: ' + ', '.join('minimum %d tokens: %s' % (least, '%d of %d requests could hit' % (hits[least], len(sizes)) if least in hits else 'the beginning is too short') for least in (512, 1024, 2048, 4096)))
if wanted: print('%d of %d things to remember stand in a request of their turn (%.3f)' % (found, wanted, found / wanted))
for line in missing: print('  missing: ' + line)
if o.json:
    with open(o.json, 'w', encoding='utf-8') as f:
        json.dump(dict(requests=len(sizes), turns=len(calls), one=one, mean=sum(sizes) / max(len(sizes), 1), largest=sizes[-1] if sizes else 0, found=found, wanted=wanted), f)
bars = [('one call a turn', one / max(len(calls), 1), 0.9, True), ('mean bytes', sum(sizes) / max(len(sizes), 1), 12 << 10 if o.provider != 'claude' else 20 << 10, False),
        ('largest bytes', sizes[-1] if sizes else 0, 40 << 10, False)] + ([('found in the request', found / wanted, 0.95, True)] if wanted else [])
for what, got, bar, least in bars: print('bar %s: %s %.3f (%s %.3f)' % ('met' if (got >= bar) == least or got == bar else 'missed', what, got, 'at least' if least else 'at most', bar))
