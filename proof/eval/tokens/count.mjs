// Compares estimates of tokens with tokenizers; see main.go beside it for how to run it.
//   claude 2    the vocabulary that Anthropic published for Claude 2 (@anthropic-ai/tokenizer)
//   o200k       OpenAI's o200k_base, of 2024 (tiktoken)
//   cl100k      OpenAI's cl100k_base, of 2023 (tiktoken)
// A line a kind: how many texts, their estimates' sum, then for each tokenizer the
// code points a token, the bias (all estimates over all tokens) and the 5th and 95th
// percentile of a text's estimate over its tokens.
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'

const require = createRequire(process.env.NODE_PATH + '/x.js')
const claude = require('@anthropic-ai/tokenizer').getTokenizer()
const { get_encoding } = require('tiktoken')
const tokenizers = [
  ['claude 2', t => claude.encode(t.normalize('NFKC'), 'all').length],
  ...['o200k_base', 'cl100k_base'].map(name => {
    const encoding = get_encoding(name)
    return [name.replace('_base', ''), t => encoding.encode(t, [], []).length]
  }),
]

const kinds = new Map()
for await (const line of createInterface({ input: process.stdin })) {
  const { kind, text, estimate } = JSON.parse(line)
  if (!kinds.has(kind)) kinds.set(kind, [])
  kinds.get(kind).push({ estimate, characters: [...text].length, counts: tokenizers.map(([, count]) => count(text)) })
}

const percent = x => (x >= 1 ? '+' : '−') + Math.abs(Math.round((x - 1) * 100)) + ' %'
const sum = (all, of) => all.reduce((n, x) => n + of(x), 0)
const row = cells => console.log('| ' + cells.join(' | ') + ' |')
row(['kind', 'texts', 'estimated', ...tokenizers.flatMap(([name]) => [`${name}: characters a token`, 'bias', 'p5 … p95'])])
row(['---', '--:', '--:', ...tokenizers.flatMap(() => ['--:', '--:', '--:'])])
for (const [kind, all] of [...kinds].sort()) {
  const estimate = sum(all, x => x.estimate)
  row([kind, all.length, estimate, ...tokenizers.flatMap((_, i) => {
    const tokens = sum(all, x => x.counts[i])
    const ratios = all.map(x => x.estimate / x.counts[i]).sort((a, b) => a - b)
    const at = share => percent(ratios[Math.min(Math.floor(share * ratios.length), ratios.length - 1)])
    return [(sum(all, x => x.characters) / tokens).toFixed(1), percent(estimate / tokens), `${at(.05)} … ${at(.95)}`]
  })])
}
