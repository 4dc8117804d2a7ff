import { isIP } from 'node:net';
import { createCertificateAuthority, issueCertificate } from '@bowline/machinery';
import { authorityFrom, type CertificateState } from './certificate-state.ts';
import { type Authority, type Leaf, readLeaf } from './pem.ts';
import type { CertificatePolicy, Step } from './plan.ts';

/** StepOptions holds the inputs of a step besides the state. */
export interface StepOptions {
  readonly policy: CertificatePolicy;
  readonly now: number;
}

/** Enough for two consecutive rotations; more would only slow down every handshake of its peers. */
const MAX_PREVIOUS = 4;

/** takeStep returns the state after a step and issues the new certificates in it. */
export async function takeStep(step: Step, state: CertificateState, options: StepOptions): Promise<CertificateState> {
  const { now, policy } = options;
  const alive = state.previous.filter(({ notAfter }) => notAfter > now).slice(0, MAX_PREVIOUS);
  const withoutExpired = {
    ...state,
    previous: alive,
    previousUntil: alive.length > 0 ? state.previousUntil : undefined,
  };
  switch (step) {
    case 'repair':
      return withoutExpired;
    case 'retire':
      return { ...withoutExpired, previous: [], previousUntil: undefined };
    case 'introduce':
      return { ...withoutExpired, next: await newAuthority(options) };
    case 'renew':
      return state.current ? { ...withoutExpired, leaf: await newLeaf(state.current, options) } : withoutExpired;
    case 'promote':
      return state.next
        ? await handOver(withoutExpired, state.next, lastLeafUntil(state, options), options)
        : withoutExpired;
    case 'start': {
      const next = state.next && state.next.notAfter > now ? state.next : await newAuthority(options);
      // Certificates that other replicas serve now were issued by a CA that is trusted now: they expire at the latest
      // after the lifetime of a leaf.
      return await handOver(withoutExpired, next, now + policy.leafValidForMs, options);
    }
  }
}

/** When the last leaf of the current CA expires. */
function lastLeafUntil({ leaf }: CertificateState, { now, policy }: StepOptions): number {
  return policy.issuesOtherLeaves ? now + policy.leafValidForMs : (leaf?.notAfter ?? now);
}

/** handOver removes the key of the old CA, which stays trusted until its last leaf has expired at `lastLeafUntil`. */
async function handOver(
  state: CertificateState,
  next: Authority,
  lastLeafUntil: number,
  options: StepOptions,
): Promise<CertificateState> {
  const { current } = state;
  const retired = current && current.notAfter > options.now ? [{ ...current, keyPem: undefined }] : [];
  const previous = [...retired, ...state.previous].slice(0, MAX_PREVIOUS);
  return {
    leaf: await newLeaf(next, options),
    current: next,
    next: undefined,
    previous,
    previousUntil: previous.length > 0 ? Math.max(state.previousUntil ?? 0, lastLeafUntil) : undefined,
  };
}

async function newAuthority({ policy, now }: StepOptions): Promise<Authority> {
  const { authorityName: commonName, authorityValidForMs: validForMs } = policy;
  return authorityFrom(await createCertificateAuthority({ commonName, validForMs, now }));
}

/** newLeaf issues a leaf. */
export async function newLeaf(
  authority: Authority,
  {
    policy,
    now,
  }: {
    readonly policy: Pick<CertificatePolicy, 'leafName' | 'names' | 'usages' | 'leafValidForMs'>;
    readonly now: number;
  },
): Promise<Leaf> {
  const { certificatePem, keyPem } = authority;
  if (keyPem === undefined) throw new TypeError('a CA without its key cannot issue');
  const issued = await issueCertificate({
    authority: { certificatePem, keyPem },
    commonName: policy.leafName,
    dnsNames: policy.names.filter((name) => isIP(name) === 0),
    ipAddresses: policy.names.filter((name) => isIP(name) !== 0),
    usages: policy.usages,
    validForMs: policy.leafValidForMs,
    now,
  });
  return readLeaf('memory', issued.certificatePem, issued.keyPem);
}
