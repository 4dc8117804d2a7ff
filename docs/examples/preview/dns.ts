import { slow } from '@bowline/runtime';

/** DnsRecord holds the target and the owner of a host. */
export interface DnsRecord {
  readonly target: string;
  /** The uid of the Preview: names are reused, uids are not. */
  readonly owner: string;
}

/** Dns is the DNS provider. It is outside of the cluster, so no garbage collector covers it. Calls are idempotent. */
export interface Dns {
  /** point creates or updates the record of a host. It returns false if the host has another owner. */
  point(host: string, record: DnsRecord, signal: AbortSignal): Promise<boolean>;
  /** release deletes the owner's record. A missing record, or that of another owner, is not changed. */
  release(host: string, owner: string, signal: AbortSignal): Promise<void>;
}

/** connectDns returns a client of a provider's HTTP API. */
export function connectDns(url: string): Dns {
  const request = async (method: string, host: string, record: Partial<DnsRecord>, signal: AbortSignal) => {
    const address = new URL(`/records/${host}`, url);
    let problem: string;
    try {
      const response = await fetch(address, { method, body: JSON.stringify(record), signal });
      if (response.ok || response.status === 404 || response.status === 409) return response.status;
      problem = `responded with status ${response.status}`;
    } catch (error) {
      signal.throwIfAborted();
      problem = error instanceof Error && error.cause instanceof Error ? error.cause.message : 'did not respond';
    }
    // Retry with a backoff of 5 s to 5 min until the provider is available again.
    throw slow('DnsUnavailable', `the DNS provider ${problem}`, { minMs: 5_000, maxMs: 300_000 });
  };
  return {
    point: async (host, record, signal) => (await request('PUT', host, record, signal)) !== 409,
    release: async (host, owner, signal) => {
      await request('DELETE', host, { owner }, signal);
    },
  };
}
