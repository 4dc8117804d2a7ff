import { integerBelow, pick, type Random } from '@bowline/machinery';

/** HostilePayload is the body of a request, and the headers of its sender. */
export interface HostilePayload {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const REFS = [
  'main',
  'refs/heads/main',
  'refs/tags/v1',
  'release/2',
  'wartung/größe',
  'a'.repeat(255),
  'a'.repeat(256),
  '',
  '-x',
  '--upload-pack=touch /tmp/x',
  'a..b',
  'a b',
  'a\nb',
  'a\u0000',
  '\ud800',
  '\u202e',
  '../../etc',
  'refs/pull/1/head',
  'refs/heads/refs/heads/x',
  'refs/heads/',
  '@{-1}',
  'a.lock',
  '$(id)',
  '😀',
];
const ODD: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e300,
  '',
  'x',
  [],
  {},
  [null],
  { a: null },
  ['main'],
  { ref: 'x' },
];
const EVENTS: Readonly<Record<string, readonly string[]>> = {
  'x-github-event': ['push', 'create', 'release', 'ping', 'issues', '', '__proto__'],
  'x-gitea-event': ['push', 'create', 'release', 'delete'],
  'x-gitlab-event': ['Push Hook', 'Tag Push Hook', 'Release Hook', 'System Hook'],
  'x-event-key': ['repo:push', 'repo:refs_changed', 'diagnostics:ping', 'pullrequest:created'],
};
const DELIVERIES: Readonly<Record<string, string>> = {
  'x-github-event': 'x-github-delivery',
  'x-gitea-event': 'x-gitea-delivery',
  'x-gitlab-event': 'idempotency-key',
  'x-event-key': 'x-request-uuid',
};

/** chance returns true with the given probability. */
export function chance(random: Random, share: number): boolean {
  return random.next() < share;
}

/** hostilePayload returns a payload: valid, slightly wrong, or no payload at all. */
export function hostilePayload(random: Random): HostilePayload {
  if (chance(random, 0.6)) return usualPayload(random);
  const headers = sender(random);
  if (chance(random, 0.03)) return { headers, body: bytes(random) };
  const text = JSON.stringify(payload(random));
  return { headers, body: Buffer.from(chance(random, 0.15) ? mutatedText(random, text) : text) };
}

/** usualPayload returns what a real sender sends, about a ref that may be hostile. */
function usualPayload(random: Random): HostilePayload {
  const name = chance(random, 0.15) ? 'main' : ref(random);
  const branch = pick(random, ['main', 'main', 'develop']);
  const [event, value, content] = pick<readonly [string, string, unknown]>(random, [
    ['x-github-event', 'push', { ref: `refs/heads/${branch}`, after: commit(random) }],
    ['x-gitea-event', 'push', { ref: `refs/heads/${branch}`, after: commit(random) }],
    ['x-github-event', 'release', { action: 'published', release: { tag_name: name } }],
    ['x-gitlab-event', 'Release Hook', { action: 'create', tag: name }],
    ['x-event-key', 'repo:push', { push: { changes: [{ new: { type: 'tag', name } }] } }],
    ['', '', { app: { metadata: { annotations: { 'git.ref': name } } } }],
    ['', '', { freight: { commits: [{ tag: name }] } }],
    ['', '', { ref: name }],
  ]);
  const headers: Record<string, string> = event === '' ? {} : { [event]: value };
  if (event !== '' && chance(random, 0.5)) headers[DELIVERIES[event] ?? 'x'] = delivery(random);
  return { headers, body: Buffer.from(JSON.stringify(content)) };
}

function sender(random: Random): Record<string, string> {
  if (chance(random, 0.3)) return {};
  const header = pick(random, Object.keys(EVENTS));
  const headers = { [header]: pick(random, EVENTS[header] ?? ['']) };
  if (chance(random, 0.1)) headers[pick(random, Object.keys(EVENTS))] = 'push';
  if (chance(random, 0.5)) headers[DELIVERIES[header] ?? 'x'] = delivery(random);
  return headers;
}

function delivery(random: Random): string {
  if (chance(random, 0.1)) return pick(random, ['', 'x'.repeat(5_000), 'a b', '\u00ff', '__proto__']);
  return String(integerBelow(random, 1_000_000));
}

function ref(random: Random): unknown {
  if (chance(random, 0.05)) return pick(random, ODD);
  return chance(random, 0.6) ? `v${integerBelow(random, 1_000)}` : pick(random, REFS);
}

function commit(random: Random): unknown {
  if (chance(random, 0.1))
    return pick<unknown>(random, [...ODD, '0'.repeat(40), '0'.repeat(64), 'A'.repeat(40), 'abc']);
  return integerBelow(random, 1e9)
    .toString(16)
    .padStart(chance(random, 0.9) ? 40 : 64, 'a');
}

/** All shapes at once, of which most are left out. */
function payload(random: Random): unknown {
  if (chance(random, 0.02)) return pick(random, ODD);
  const branch = pick(random, ['main', 'main', 'develop']);
  const change = {
    new: pick<unknown>(random, [
      null,
      { type: pick(random, ['branch', 'tag', 'x']), name: ref(random), target: { hash: commit(random) } },
    ]),
    ref: { id: chance(random, 0.5) ? `refs/heads/${branch}` : ref(random), type: pick(random, ['BRANCH', 'TAG']) },
    toHash: commit(random),
    type: pick(random, ['UPDATE', 'ADD', 'DELETE']),
  };
  const parts: Readonly<Record<string, unknown>> = {
    ref: chance(random, 0.5) ? `refs/heads/${branch}` : ref(random),
    after: commit(random),
    deleted: chance(random, 0.1),
    ref_type: pick(random, ['tag', 'branch']),
    action: pick(random, ['published', 'create', 'deleted']),
    release: { tag_name: ref(random), draft: chance(random, 0.2) },
    tag: ref(random),
    push: { changes: [change, change].slice(integerBelow(random, 3)) },
    changes: [change],
    app: { metadata: { annotations: { 'git.ref': ref(random) } } },
    freight: { commits: [{ tag: ref(random) }] },
    ['__proto__']: { ref: 'polluted' },
    constructor: { prototype: { ref: 'polluted' } },
  };
  const kept = Object.keys(parts).filter(() => chance(random, 0.5));
  const result = Object.fromEntries(kept.map((name) => [name, chance(random, 0.04) ? pick(random, ODD) : parts[name]]));
  return chance(random, 0.02) ? nested(random, result) : result;
}

function nested(random: Random, value: unknown): unknown {
  let result = value;
  for (let depth = integerBelow(random, 500); depth > 0; depth--)
    result = chance(random, 0.5) ? [result] : { ref: result };
  return { ref: 'main', deep: result };
}

/** mutatedText returns a text with one change. */
export function mutatedText(random: Random, text: string): string {
  const at = integerBelow(random, text.length + 1);
  const token = pick(random, [
    '"',
    '\\',
    '{',
    '}',
    '[',
    ',',
    ':',
    '\u0000',
    '\\ud800',
    'null',
    ' ',
    '\ufeff',
    '1e999',
    'é',
  ]);
  switch (integerBelow(random, 4)) {
    case 0:
      return text.slice(0, at) + token + text.slice(at);
    case 1:
      return text.slice(0, at) + text.slice(at + 1 + integerBelow(random, 8));
    case 2:
      return text.slice(0, at);
    default:
      return text + text.slice(at);
  }
}

function bytes(random: Random): Buffer {
  return Buffer.from(Uint8Array.from({ length: integerBelow(random, 300) }, () => integerBelow(random, 256)));
}
