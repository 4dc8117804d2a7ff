import type { ObjectMeta, Secret } from '@bowline/kubernetes';
import { MANAGED_BY } from '../identity/operator-identity.ts';
import type { CertificateProfile } from './certificate-profile.ts';
import { type Authority, isIssuedBy, type Leaf, readAuthorities, readAuthority, readKey, readLeaf } from './pem.ts';

/** CertificateState is everything that replicas share: all of it is in the Secret. */
export interface CertificateState {
  /** The certificate to serve. */
  readonly leaf: Leaf | undefined;
  /** The CA that issues leaves. Undefined only while `next` is about to take over because the key was lost. */
  readonly current: Authority | undefined;
  /** The CA that will issue leaves once it is trusted everywhere. */
  readonly next: Authority | undefined;
  /** CAs that issue no more leaves, but whose leaves may still be served. */
  readonly previous: readonly Authority[];
  /** When the last leaf of a previous CA expires. */
  readonly previousUntil: number | undefined;
}

/** StateRead is a state and the damage found in the Secret it was read from; no message contains any part of a key. */
export interface StateRead extends CertificateState {
  readonly damage: readonly string[];
}

/** SecretView is the part of the Secret that is kept in the cache. */
export interface SecretView {
  readonly metadata: Pick<ObjectMeta, 'name' | 'namespace' | 'uid' | 'resourceVersion' | 'labels' | 'annotations'>;
  readonly data: Readonly<Record<string, string>>;
  readonly type: string | undefined;
}

/** viewSecret extracts the part of the Secret that the state is read from. */
export function viewSecret({ metadata = {}, data = {}, type }: Secret): SecretView {
  const { name, namespace, uid, resourceVersion, labels, annotations } = metadata;
  return { metadata: { name, namespace, uid, resourceVersion, labels, annotations }, data, type };
}

/** Spare holds replacements for damaged parts: what this replica knew before, and what others trust. */
export interface Spare {
  readonly known: CertificateState | undefined;
  readonly trusted: readonly Authority[];
}

/**
 * readState reads the Secret. A part that is missing or does not match is replaced by a spare one if possible, so that
 * manual damage has as little effect as possible; `damage` means that the Secret must be rewritten.
 */
export function readState(
  { previousAuthorityUntil }: Pick<CertificateProfile, 'previousAuthorityUntil'>,
  secret: SecretView | undefined,
  spare: Spare,
): StateRead {
  const damage: string[] = [];
  const text = (key: string): string | undefined => {
    const value = secret?.data[key];
    return value ? Buffer.from(value, 'base64').toString('utf8') : undefined;
  };
  const { known } = spare;
  if (!secret) damage.push('it does not exist');
  const inBundle = readAuthorities(text('ca.crt') ?? '');
  if (secret && inBundle.length === 0) damage.push('ca.crt contains no CA certificate');
  const spareAuthorities = [known?.current, known?.next, ...(known?.previous ?? []), ...spare.trusted].filter(
    (each) => each !== undefined,
  );
  const candidates = unique([...inBundle, ...spareAuthorities]);

  const withKey = (field: string): Authority | undefined => {
    const keyPem = text(field);
    const key = readKey(keyPem);
    const owner = key && candidates.find(({ certificate }) => certificate.checkPrivateKey(key));
    if (owner) return { ...owner, keyPem };
    if (secret && keyPem !== undefined) damage.push(`${field} is unreadable or does not belong to a CA in ca.crt`);
    return undefined;
  };
  let next = withKey('ca-next.key');
  let current = withKey('ca.key');
  if (!current && !next) {
    if (secret && text('ca.key') === undefined) damage.push('ca.key is missing');
    current = known?.current;
    next = known?.next;
  }
  const leaf = leafOf(text, candidates, known?.leaf, secret ? damage : []);
  const issuer = leaf && candidates.find((each) => isIssuedBy(leaf, each));
  const taken = new Set([current?.fingerprint, next?.fingerprint]);
  // A damaged bundle may lack CAs that are still trusted elsewhere; an intact one is authoritative.
  const trusted = damage.length > 0 ? candidates : inBundle;
  return {
    leaf,
    current,
    next,
    previous: unique([...(issuer ? [issuer] : []), ...trusted])
      .filter(({ fingerprint }) => !taken.has(fingerprint))
      .map((each) => ({ ...each, keyPem: undefined })),
    previousUntil:
      // A time in the past ends the trust in earlier authorities immediately.
      timeOf(secret?.metadata.annotations?.[previousAuthorityUntil]) ?? (secret ? undefined : known?.previousUntil),
    damage,
  };
}

function leafOf(
  text: (key: string) => string | undefined,
  authorities: readonly Authority[],
  known: Leaf | undefined,
  damage: string[],
): Leaf | undefined {
  try {
    const leaf = readLeaf('the Secret', text('tls.crt'), text('tls.key'));
    if (authorities.some((authority) => isIssuedBy(leaf, authority))) return leaf;
    damage.push('tls.crt is not issued by a CA in ca.crt');
  } catch {
    damage.push('tls.crt and tls.key are not a certificate and its key');
  }
  return known;
}

/**
 * bundleOf returns the CA bundle to trust, the issuing CA first. Equal states return equal
 * text.
 */
export function bundleOf({ current, next, previous }: CertificateState): string {
  const others = [...previous].sort((a, b) => b.notAfter - a.notAfter || (a.fingerprint < b.fingerprint ? -1 : 1));
  return [current, next, ...others].map((authority) => authority?.certificatePem ?? '').join('');
}

/** secretOf returns the Secret that holds a state. Metadata of other clients on the Secret is kept. */
export function secretOf(
  profile: CertificateProfile,
  state: CertificateState,
  metadata: ObjectMeta,
  type?: string,
): Secret {
  const { leaf, current, next, previousUntil } = state;
  const { [profile.previousAuthorityUntil]: _, ...annotations } = metadata.annotations ?? {};
  const encode = (value: string | undefined): string => Buffer.from(value ?? '').toString('base64');
  return {
    metadata: {
      ...metadata,
      labels: { [MANAGED_BY]: profile.vendor, ...metadata.labels, [profile.label]: profile.operator },
      annotations: {
        ...annotations,
        ...(previousUntil === undefined
          ? {}
          : { [profile.previousAuthorityUntil]: new Date(previousUntil).toISOString() }),
      },
    },
    type: type ?? 'kubernetes.io/tls',
    data: {
      'tls.crt': encode(leaf?.certificatePem),
      'tls.key': encode(leaf?.keyPem),
      'ca.crt': encode(bundleOf(state)),
      ...(current?.keyPem ? { 'ca.key': encode(current.keyPem) } : {}),
      ...(next?.keyPem ? { 'ca-next.key': encode(next.keyPem) } : {}),
    },
  };
}

/** authorityFrom returns a newly created CA. */
export function authorityFrom(made: { readonly certificatePem: string; readonly keyPem: string }): Authority {
  const authority = readAuthority(made.certificatePem, made.keyPem);
  if (!authority) throw new TypeError('a newly created CA cannot be parsed');
  return authority;
}

function unique(authorities: readonly Authority[]): Authority[] {
  return [...new Map(authorities.map((each) => [each.fingerprint, each])).values()];
}

function timeOf(text: string | undefined): number | undefined {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : time;
}
