import type { Secret } from '@bowline/kubernetes';
import type { CertificateUsage } from '@bowline/machinery';
import { BowlineError } from '../errors/bowline-error.ts';
import { bundleOf, type CertificateState } from './certificate-state.ts';
import { type Authority, isIssuedBy, type Leaf, readLeaf } from './pem.ts';
import { isAlive, leafProblem, renewal } from './plan.ts';
import { newLeaf } from './take-step.ts';

/** LeafRequest describes the certificate of a server, a client or both. */
export interface LeafRequest {
  /** Host names and IP addresses. At least one: peers compare them, also those of a client. */
  readonly names: readonly string[];
  readonly usages: readonly CertificateUsage[];
}

/** IssuedLeaf is the content of a Secret with a certificate. */
export interface IssuedLeaf {
  /**
   * The keys `tls.crt`, `tls.key` and `ca.crt`, in base64: the CAs to trust, but never the key of a CA. Equal to those
   * of the existing Secret if nothing has to change.
   */
  readonly data: Readonly<Record<'tls.crt' | 'tls.key' | 'ca.crt', string>>;
  /** Why a certificate was issued. Undefined: the existing one is kept. */
  readonly reason: string | undefined;
  /** When to check again, in milliseconds since the epoch. */
  readonly checkAt: number;
}

/**
 * issueLeaf returns the content of a Secret with a certificate of the current CA. The existing certificate is kept
 * while it is valid for the request, its CA is the current one and more than a third of its lifetime is left.
 */
export async function issueLeaf(
  state: CertificateState,
  existing: Pick<Secret, 'data'> | undefined,
  request: LeafRequest & { readonly validForMs: number },
  now: number,
): Promise<IssuedLeaf> {
  const { names, usages, validForMs: leafValidForMs } = request;
  const authority = isAlive(state.current, now) && state.current.keyPem ? state.current : undefined;
  const found = existingLeaf(existing);
  const problem = leafProblem(found, state, request, now) ?? (found && requestMismatch(found, request));
  const dueTo = problem ?? (found && authority ? renewalReason(found, authority, leafValidForMs, now) : undefined);
  let leaf = found;
  if (dueTo !== undefined || !leaf) {
    if (!authority) throw unavailable('it has no key that can issue certificates at the moment');
    const policy = { leafName: (names[0] ?? '').slice(0, 64), names, usages, leafValidForMs };
    leaf = await newLeaf(authority, { policy, now });
  }
  const data = {
    'tls.crt': encode(leaf.certificatePem),
    'tls.key': encode(leaf.keyPem),
    'ca.crt': encode(bundleOf(state)),
  };
  const checkAt = authority ? renewal(leaf, authority, leafValidForMs, now).checkAt : leaf.notAfter;
  return { data, reason: dueTo, checkAt };
}

/** unavailable returns the error of a CA that cannot issue now. */
export function unavailable(problem: string): BowlineError {
  return new BowlineError(
    'BOWLINE_CERTIFICATE_AUTHORITY_UNAVAILABLE',
    `cannot issue a certificate: the CA is not available: ${problem}; retry, or provide the certificate`,
    { retryable: true },
  );
}

function existingLeaf(secret: Pick<Secret, 'data'> | undefined): Leaf | undefined {
  const text = (key: string): string => Buffer.from(secret?.data?.[key] ?? '', 'base64').toString('utf8');
  try {
    return readLeaf('the Secret', text('tls.crt'), text('tls.key'));
  } catch {
    // It is replaced.
    return undefined;
  }
}

const USAGE_IDS: Readonly<Record<CertificateUsage, string>> = {
  server: '1.3.6.1.5.5.7.3.1',
  client: '1.3.6.1.5.5.7.3.2',
};

/** requestMismatch returns why a certificate does not have the usages or has more names than requested. */
function requestMismatch({ certificate }: Leaf, { names, usages }: LeafRequest): string | undefined {
  const ids = usages.map((usage) => USAGE_IDS[usage]).sort();
  if ([...certificate.keyUsage].sort().join() !== ids.join()) return 'the certificate has other usages';
  const wanted = new Set(names.map((name) => name.toLowerCase()));
  const others = [...(certificate.subjectAltName ?? '').matchAll(/DNS:([^,]+)/g)].find(
    ([, name = '']) => !wanted.has(name.toLowerCase()),
  );
  return others && 'the certificate is valid for other names too';
}

function renewalReason(leaf: Leaf, authority: Authority, leafValidForMs: number, now: number): string | undefined {
  if (!isIssuedBy(leaf, authority)) return 'its CA was replaced';
  return renewal(leaf, authority, leafValidForMs, now).isDue
    ? 'a third of the lifetime of the certificate is left'
    : undefined;
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64');
}
