import type { Operator } from '@bowline/runtime';
import type { WebhookServing } from '@bowline/runtime/manager';
import type { ManagerConfig } from '../config/manager-config.ts';

/** ServingEnvironment describes where webhooks are served. */
export interface ServingEnvironment {
  /** The manager's namespace. */
  readonly namespace: string;
  /**
   * Whether the API server is on the same machine, outside a cluster: then it reaches webhooks at a loopback address.
   */
  readonly isServerLocal: boolean;
}

/**
 * webhookServing returns how an operator's webhooks are served and reached. The default is the Service in front of the
 * pods: an API server on another machine could not reach a process outside the cluster, and would reject every object.
 */
export function webhookServing(
  { webhook, namespaces }: Pick<ManagerConfig, 'webhook' | 'namespaces'>,
  { namespace, isServerLocal }: ServingEnvironment,
  operator: Pick<Operator, 'name'>,
): WebhookServing {
  const reachedAt = webhook.reachedAt ?? (isServerLocal ? 'loopback' : 'service');
  // A user who configures where webhooks are reached also has, or creates, configurations with that address.
  const isDefaultLoopback = isServerLocal && webhook.reachedAt === undefined;
  const configurations = webhook.configurations ?? (isDefaultLoopback ? 'runtime' : 'chart');
  const { kind, name = '', folder = '', inject } = webhook.certificates;
  const certificates = {
    managed: { kind: 'managed' },
    secret: { kind: 'secret', name, inject },
    files: { kind: 'files', folder, inject },
  } as const;
  const service = { namespace, name: `${operator.name}-webhook` };
  return {
    address: webhook.address,
    reachedAt: reachedAt === 'service' ? { service } : reachedAt === 'loopback' ? reachedAt : { url: reachedAt },
    configurations,
    certificates: certificates[kind],
    onlyNamespaces: namespaces,
  };
}
