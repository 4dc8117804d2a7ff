import { integerBelow, pick, type Random } from '@bowline/machinery';
import type { SecretSyncRequest } from '../../../operators/jasm/src/annotation/secret-sync-request.ts';
import type { SecretPayload } from '../../../operators/jasm/src/providers/provider.ts';

const USUAL_KEYS = [
  'username',
  'password',
  'tls.crt',
  'tls.key',
  'ssh-privatekey',
  '.dockerconfigjson',
  '.dockercfg',
  'x',
  'n',
];

/** fittingPayload returns a secret that has everything a request needs. */
export function fittingPayload(random: Random, request: SecretSyncRequest): SecretPayload {
  if (request.format === 'raw') return { kind: 'text', text: encoded(textFor(random, request.key ?? ''), request) };
  if (request.format === 'binary')
    return { kind: 'bytes', bytes: Buffer.from(encoded(textFor(random, request.key ?? ''), request)) };
  const wanted = request.keys ?? USUAL_KEYS.map((key) => ({ target: key, source: key }));
  const values = wanted.map(({ target, source }) => [source, valueFor(random, target, request)] as const);
  // A source shared by two keys must satisfy the stricter one.
  const strictest = [...values].sort(([, a], [, b]) => Number(isCredentials(a)) - Number(isCredentials(b)));
  if (pick(random, [true, false]))
    return {
      kind: 'entries',
      entries: Object.fromEntries(strictest.map(([key, value]) => [key, Buffer.from(String(value))])),
    };
  return { kind: 'text', text: JSON.stringify(Object.fromEntries(strictest)) };
}

const CREDENTIALS = '{"auths":{}}';

function isCredentials(value: unknown): boolean {
  return (
    (typeof value === 'string' && Buffer.from(value, 'base64').toString().includes('auths')) || value === CREDENTIALS
  );
}

function valueFor(random: Random, target: string, request: SecretSyncRequest): unknown {
  const text = textFor(random, target);
  return text === CREDENTIALS || request.decode !== 'None'
    ? encoded(text, request)
    : pick<unknown>(random, [text, text, integerBelow(random, 1e9), true]);
}

function textFor(random: Random, key: string): string {
  if (key.startsWith('.docker')) return CREDENTIALS;
  return `value ${integerBelow(random, 1e6)} ü`;
}

function encoded(text: string, { decode }: SecretSyncRequest): string {
  if (decode === 'Base64') return Buffer.from(text).toString('base64');
  return decode === 'Base64URL' ? Buffer.from(text).toString('base64url') : text;
}
