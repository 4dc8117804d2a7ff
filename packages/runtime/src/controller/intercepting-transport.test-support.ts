import type { Cluster } from '@bowline/control-plane/testing';
import { parseKubeconfig } from '../kubeconfig/kubeconfig.ts';
import { connectionFrom } from '../kubeconfig/load-kubeconfig.ts';
import { connect } from '../transport/connect.ts';
import type { Transport, TransportRequest, TransportResponse } from '../transport/transport.ts';

/** transportOf connects with an identity to a test's control plane. Close it after use. */
export async function transportOf(c: Cluster, identity: Parameters<Cluster['kubeconfig']>[0]): Promise<Transport> {
  const kubeconfig = await parseKubeconfig(JSON.stringify(await c.kubeconfig(identity)), 'test');
  return connect(connectionFrom(kubeconfig));
}

/** Intercept decides what happens to a request; `send` passes it to the network. */
export type Intercept = (
  request: TransportRequest,
  send: () => Promise<TransportResponse>,
) => Promise<TransportResponse>;

/**
 * InterceptingTransport lets a test intercept requests between a client and its API server. Closing it leaves the
 * underlying transport open.
 */
export class InterceptingTransport implements Transport {
  readonly #below: Transport;
  readonly #intercept: Intercept;

  constructor(below: Transport, intercept: Intercept) {
    this.#below = below;
    this.#intercept = intercept;
  }

  get host(): string {
    return this.#below.host;
  }

  request(request: TransportRequest): Promise<TransportResponse> {
    return this.#intercept(request, () => this.#below.request(request));
  }

  async close(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}
}
