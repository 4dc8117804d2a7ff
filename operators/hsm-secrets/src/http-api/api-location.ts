import type { Config } from '../config.ts';

/** API_CONFIG_MAP is the ConfigMap in the manager's namespace that describes how to call the API. Its name is API. */
export const API_CONFIG_MAP = 'hsm-secrets-api';

/** API_SERVICE is the Service in front of the replicas: that of the service `api`. */
export const API_SERVICE = 'hsm-secrets-api';

/** API_SERVER_NAME is the name in the certificate of the API, whatever address it is called at. */
export const API_SERVER_NAME = 'api.hsm-secrets';

/** ApiLocation is the content of the ConfigMap: how to call the API. */
export interface ApiLocation {
  readonly url: string;
  /** The CAs that certify the API, in PEM format. */
  readonly 'ca.crt': string;
  /** The name in its certificate. */
  readonly serverName: string;
  /** The audience of the tokens that it accepts. */
  readonly audience: string;
  /** The name of the Service, for a port forward. */
  readonly service: string;
  /** The ServiceAccount of the command line, in the same namespace. */
  readonly serviceAccount: string;
}

/** isLoopback reports whether an address can only be reached on the same machine. */
export function isLoopback(address: string): boolean {
  const host = address.slice(0, address.lastIndexOf(':'));
  return /^(?:127(?:\.\d{1,3}){3}|localhost|\[::1\])$/.test(host);
}

/** servedPort returns the port that the API is served on in a cluster; undefined if it cannot be reached there. */
export function servedPort({ enabled, address }: Config['api']): number | undefined {
  return enabled && !isLoopback(address) ? Number(address.slice(address.lastIndexOf(':') + 1)) : undefined;
}
