import { X509Certificate } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { waitFor } from '../../../packages/control-plane/src/testing/wait-for.ts';
import type { Spire } from './run-spire.ts';

/** X509Identity is an X.509-SVID of a workload. */
export interface X509Identity {
  readonly spiffeId: string;
  readonly certificate: X509Certificate;
  /** The DER encodings of the trust domain's CA certificates, concatenated. */
  readonly bundle: Buffer;
}

/** JwtIdentity is a JWT-SVID of a workload. */
export interface JwtIdentity {
  readonly spiffeId: string;
  readonly token: string;
}

/** Each question starts a process, which the agent and other tests would notice if it happened more often. */
const POLL_INTERVAL_MS = 250;

/** untilX509 asks the agent, as this process's user, until it issues an X.509-SVID with the given SPIFFE ID, and returns it. */
export async function untilX509(spire: Spire, spiffeId: string): Promise<X509Identity> {
  let last: unknown;
  let found: X509Identity | undefined;
  const isIssued = async (): Promise<boolean> => {
    try {
      const identities = await fetchX509(spire);
      last = identities.map((each) => each.spiffeId);
      found = identities.find((each) => each.spiffeId === spiffeId);
    } catch (error) {
      last = error;
    }
    if (found === undefined) await pause(POLL_INTERVAL_MS);
    return found !== undefined;
  };
  await waitFor(`the identity ${spiffeId}`, isIssued).catch((cause: unknown) => {
    throw new Error(`the agent issued no X.509-SVID for ${spiffeId}; its last response: ${String(last)}`, { cause });
  });
  if (!found) throw new TypeError('waitFor() returned before its condition was true');
  return found;
}

/** fetchX509 returns the X.509-SVIDs of this process's user; it rejects if there are none. */
async function fetchX509(spire: Spire): Promise<readonly X509Identity[]> {
  const response = (await spire.runAgentCommand(['api', 'fetch', 'x509'])) as {
    readonly svids: readonly { readonly spiffe_id: string; readonly x509_svid: string; readonly bundle: string }[];
  };
  return response.svids.map(({ spiffe_id, x509_svid, bundle }) => ({
    spiffeId: spiffe_id,
    // Of a chain in DER, the first certificate is read: that of the workload.
    certificate: new X509Certificate(Buffer.from(x509_svid, 'base64')),
    bundle: Buffer.from(bundle, 'base64'),
  }));
}

/** fetchJwt returns the JWT-SVIDs of this process's user for an audience; it rejects if there are none. */
export async function fetchJwt(spire: Spire, audience: string): Promise<readonly JwtIdentity[]> {
  const [response] = (await spire.runAgentCommand(['api', 'fetch', 'jwt', '-audience', audience])) as [
    { readonly svids: readonly { readonly spiffe_id: string; readonly svid: string }[] },
  ];
  return response.svids.map(({ spiffe_id, svid }) => ({ spiffeId: spiffe_id, token: svid }));
}
