import { createHmac } from 'node:crypto';
import { integerBelow, pick, type Random } from '@bowline/machinery';
import { chance, hostilePayload, mutatedText } from './hostile-payload.ts';
import { type Mode, SECRETS } from './receiver-modes.ts';

/** HostileRequest is a request before it is sent. */
export interface HostileRequest {
  readonly family: 'signed' | 'forged' | 'altered' | 'misplaced';
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const PATHS = ['site', 'site', 'site', 'own', 'own', 'pending', 'off', 'unknown'].map(
  (name) => `/webhook/plant/${name}`,
);
const METHODS = ['GET', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'post', '', 'PROPFIND'];
const ODD_PATHS = [
  '',
  '/',
  '*',
  '/webhook',
  '/webhook/',
  '/webhook//site',
  '/webhook/plant/',
  '/webhook/plant/site/',
  '/webhook/plant/../plant/site',
  '/webhook/plant/%73ite',
  '/webhook/PLANT/site',
  '/webhook/plant/__proto__',
  '/webhook/constructor/site',
  'http://x/webhook/plant/site',
  '//webhook/plant/site',
  '/webhook/plant/site\u0000',
  `/webhook/plant/${'a'.repeat(300)}`,
  `/webhook/${'/'.repeat(5_000)}`,
  '/webhook/plant/site?x=/webhook/plant/own',
  '/webhook/plant/site#x',
];

/** hostileRequest returns a request: authentic, forged, changed after it was signed, or to a path that is none. */
export function hostileRequest(random: Random, mode: Mode): HostileRequest {
  const { headers, body } = hostilePayload(random);
  const dice = random.next();
  const target = { method: 'POST', url: pick(random, PATHS) };
  // Many paths, so that what is remembered about them reaches its bound.
  if (chance(random, 0.1)) target.url = `/webhook/plant/x${integerBelow(random, 1e9)}`;
  const proof = authentication(random, body, chance(random, 0.8) ? secretsFor(mode, target.url) : ALL_SECRETS);
  // One valid signature suffices, whatever the other headers contain.
  const others = chance(random, 0.1) ? wrongSignatures(random) : {};
  if (dice < 0.5) return { family: 'signed', ...target, headers: { ...headers, ...others, ...proof }, body };
  if (dice < 0.75) return { family: 'forged', ...target, headers: { ...headers, ...forged(random, proof) }, body };
  if (dice < 0.9) {
    const changed = Buffer.from(mutatedText(random, body.toString('latin1')), 'latin1');
    return { family: 'altered', ...target, headers: { ...headers, ...proof }, body: changed };
  }
  if (chance(random, 0.5)) target.method = pick(random, METHODS);
  else target.url = pick(random, ODD_PATHS);
  return { family: 'misplaced', ...target, headers: { ...headers, ...proof }, body };
}

const ALL_SECRETS: readonly string[] = Object.values(SECRETS);

/** secretsFor returns the secrets that a receiver may accept. */
function secretsFor({ hasHmac, hasToken }: Mode, url: string): readonly string[] {
  const own = url.endsWith('/own') ? [SECRETS.own] : [];
  const accepted = [...(hasHmac ? [SECRETS.hmac] : []), ...(hasToken ? [SECRETS.token] : []), ...own];
  return accepted.length > 0 ? accepted : ALL_SECRETS;
}

/** authentication returns headers that some receivers accept for a body. */
function authentication(random: Random, body: Buffer, secrets: readonly string[]): Record<string, string> {
  const secret = pick(random, secrets);
  // Only a bearer token is compared with it.
  if (secret === SECRETS.token && chance(random, 0.8)) return { authorization: `Bearer ${secret}` };
  const hex = createHmac('sha256', secret).update(body).digest('hex');
  const digits = chance(random, 0.2) ? hex.toUpperCase() : hex;
  switch (integerBelow(random, 6)) {
    case 0:
      return { 'x-hub-signature': `sha256=${digits}` };
    case 1:
      return { 'x-gitea-signature': digits };
    case 2:
      return { 'x-gitlab-token': secret };
    case 3:
      return { authorization: `Bearer ${secret}` };
    case 4:
      return { 'x-hub-signature-256': `sha256=${digits}`, 'x-hub-signature': `sha1=${'0'.repeat(40)}` };
    default:
      return { 'x-hub-signature-256': `sha256=${digits}` };
  }
}

/** forged returns headers like those of an authentic request, with one change. */
function forged(random: Random, proof: Readonly<Record<string, string>>): Record<string, string> {
  const [name = ''] = Object.keys(proof);
  const value = proof[name] ?? '';
  switch (integerBelow(random, 8)) {
    case 0:
      return {};
    case 1:
      return { [name]: value.slice(0, -1) };
    case 2:
      return { [name]: `${value}, ${value}` };
    case 3:
      return { [name]: value.replace('sha256=', pick(random, ['sha1=', 'SHA256=', '', 'sha256= '])) };
    case 4:
      return { [name]: value.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')) };
    case 5:
      return wrongSignatures(random);
    case 6:
      return { [pick(random, ['x-hub-signature-256', 'x-gitea-signature', 'x-gitlab-token', 'authorization'])]: value };
    default:
      return {
        [name]: pick(random, ['', 'sha256=', 'Bearer ', 'Bearer', 'x'.repeat(10_000), '\u00ff', '0'.repeat(64)]),
      };
  }
}

/** Well-formed signatures in several headers, by a secret that no receiver has. */
function wrongSignatures(random: Random): Record<string, string> {
  const hex = createHmac('sha256', 'x').update(String(random.next())).digest('hex');
  const all = { 'x-hub-signature-256': `sha256=${hex}`, 'x-hub-signature': `sha256=${hex}`, 'x-gitea-signature': hex };
  return Object.fromEntries(Object.entries(all).filter(() => chance(random, 0.7)));
}
