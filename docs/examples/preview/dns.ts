import { slow } from '@bowline/runtime';

/** DnsRecord is what a host points to, and whose it is. */
export interface DnsRecord {
  readonly target: string;
  /** The uid of the Preview: names come back, uids do not. */
  readonly owner: string;
}

/** Dns is the DNS provider: outside the cluster, so no garbage collector looks after it. Every call may be repeated. */
export interface Dns {
  /** point makes the host an address of the target; false when the host is somebody else's. */
  point(host: string, record: DnsRecord, signal: AbortSignal): Promise<boolean>;
  /** release removes the owner's record; one that is gone or somebody else's is left as it is. */
  release(host: string, owner: string, signal: AbortSignal): Promise<void>;
}

/** connectDns talks to a provider over HTTP. */
export function connectDns(url: string): Dns {
  const request = async (method: string, host: string, record: Partial<DnsRecord>, signal: AbortSignal) => {
    const address = new URL(`/records/${host}`, url);
    let problem: string;
    try {
      const response = await fetch(address, { method, body: JSON.stringify(record), signal });
      if (response.ok || response.status === 404 || response.status === 409) return response.status;
      problem = `answered ${response.status}`;
    } catch (error) {
      signal.throwIfAborted();
      problem = error instanceof Error && error.cause instanceof Error ? error.cause.message : 'did not answer';
    }
    // It will be back one day: look again after seconds, and not more often than every five minutes.
    throw slow('DnsUnavailable', `the DNS provider ${problem}`, { minMs: 5_000, maxMs: 300_000 });
  };
  return {
    point: async (host, record, signal) => (await request('PUT', host, record, signal)) !== 409,
    release: async (host, owner, signal) => {
      await request('DELETE', host, { owner }, signal);
    },
  };
}
