import { Service, ServiceAccount } from '@bowline/kubernetes';
import { type CompanionContext, companion } from '@bowline/runtime';
import type { Config } from '../config.ts';
import { isLoopback } from '../http-api/api-location.ts';

/**
 * cliAccount is the ServiceAccount with which the command line calls the API. It has no permissions until an
 * administrator binds a role to it.
 */
export const cliAccount = companion(ServiceAccount, 'cli').content(({ config }: CompanionContext<Config>) =>
  config.api.enabled ? { automountServiceAccountToken: false } : undefined,
);

/** apiService is the Service in front of the replicas that serve the API. */
export const apiService = companion(Service, 'api').content(
  ({ config: { api }, serviceAccount }: CompanionContext<Config>) => {
    const port = Number(api.address.slice(api.address.lastIndexOf(':') + 1));
    if (!api.enabled || isLoopback(api.address) || port === 0) return undefined;
    return {
      spec: {
        // The labels of the manager's pods: its Deployment has the name of its ServiceAccount.
        selector: { 'app.kubernetes.io/name': serviceAccount, 'app.kubernetes.io/part-of': 'bowline' },
        ports: [{ name: 'api', port, targetPort: port, protocol: 'TCP' }],
      },
    };
  },
);
