#!/usr/bin/env python3
"""What becomes of a model's answers? Plays the cases of answers/ through a stand-in of the Messages API that gives them.

  answers.py EVAL --bin DIR --standin FILE [--json OUT]

answers/CASE-N.xml answers the Nth request of a case. They were written from the recorded requests (requests.py --keep) by somebody
who had not seen the keys. Measured: the weighted share of what the keys ask for that is stored, how many statements that the keys
call false, and whether every number and name of the answers stands in the request that they answer."""
import argparse, glob, html, json, os, re, shutil, subprocess, sys, tempfile, time

a = argparse.ArgumentParser()
a.add_argument('eval'); a.add_argument('--bin', required=True); a.add_argument('--standin', required=True); a.add_argument('--json'); a.add_argument('--timeout', type=float, default=60)
o = a.parse_args()
sys.path.insert(0, o.eval)
sys.dont_write_bytecode = True  # nothing is written into the set
import score

here = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'answers')
answers = {}
for f in sorted(glob.glob(os.path.join(here, '*.xml'))):
    name, n = re.fullmatch(r'(.*)-(\d+)\.xml', os.path.basename(f)).groups()
    answers.setdefault(name, {})[int(n)] = open(f, encoding='utf-8').read()


def flat(content): return content if isinstance(content, str) else '\n'.join(b.get('text', '') for b in content)


def names(answer):
    """The numbers and names of an answer's text: words with a digit, an underscore, a capital within or brackets behind."""
    text = html.unescape(re.sub(r'</?[a-z_]+>|<skip_summary[^>]*>|<learning[^>]*>', ' ', answer))
    words = re.findall(r'[A-Za-z0-9_./:@-]*[A-Za-z0-9_](?:\(\))?', text)
    return {w.strip('.:-/') for w in words if re.search(r'\d|_|[a-z][A-Z]|\(\)', w)}


def play(name):
    top = os.path.realpath(tempfile.mkdtemp(prefix='distil-'))
    log, url = os.path.join(top, 'log'), os.path.join(top, 'url')
    replies = [{'text': answers[name][n]} for n in sorted(answers[name])]
    with open(os.path.join(top, 'scenario'), 'w') as f: json.dump({'rules': [{'name': 'observer', 'match': '(?i)observation', 'in': 'system', 'replies': replies}]}, f)
    standin = subprocess.Popen([os.path.abspath(o.standin), '-scenario', f.name, '-log', log, '-url-file', url, '-max-time', '15m'], stdout=subprocess.DEVNULL)
    try:
        for _ in range(500):
            if os.path.exists(url): break
            time.sleep(0.02)
        os.environ.update(CLAUDE_MEM_ANTHROPIC_BASE_URL=open(url).read().strip(), CLAUDE_MEM_ANTHROPIC_API_KEY='none')
        got = score.play(os.path.abspath(o.bin), 'anthropic', os.path.join(o.eval, 'cases', name), o.timeout)
    finally:
        standin.terminate(); standin.wait()
    asked = [e['body'] for e in map(json.loads, open(log, encoding='utf-8')) if e['kind'] == 'rule']
    shutil.rmtree(top, ignore_errors=True)
    if len(asked) != len(replies): print('%s: %d requests for %d answers' % (name, len(asked), len(replies)))
    unfounded = []
    for body, reply in zip(asked, replies):
        seen = ' '.join(flat(m['content']) for m in body['messages'])
        unfounded += [w for w in names(reply['text']) if w not in seen and not all(part in seen for part in w.replace('()', '').split('.'))]
    return score.judge(got), unfounded, len(asked) == len(replies)


found, wanted, false, unfounded, whole = 0, 0, 0, 0, True
for name in sorted(answers):
    res, words, matched = play(name)
    found += res['coverage'][0]; wanted += res['coverage'][1]; false += res['false_statements']; unfounded += len(words); whole &= matched
    print('%-28s coverage %d of %d%s%s' % (name, *res['coverage'], ''.join('\n  called false: %s: “%s” (%s)' % (x['what'], x['match'], x['where']) for x in res['false'][:2]),
                                         '\n  not in the request: ' + ', '.join(sorted(words)) if words else ''))
bars = [('coverage', found / max(wanted, 1), 0.8, True), ('names and numbers that are not in the request', unfounded, 0, False), ('cases', len(answers), 12, True)]
for what, got, bar, least in bars: print('bar %s: %s %.3f (%s %.3f)' % ('met' if whole and (got >= bar if least else got <= bar) else 'missed', what, got, 'at least' if least else 'at most', bar))
print('%d statements that a key calls false' % false)
if o.json:
    with open(o.json, 'w', encoding='utf-8') as f: json.dump(dict(cases=len(answers), coverage=found / max(wanted, 1), false=false, unfounded=unfounded), f)
