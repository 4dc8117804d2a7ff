import { ServiceAccount } from '@bowline/kubernetes';
import { type CompanionContext, companion } from '@bowline/runtime';
import type { Config } from '../config.ts';

/**
 * cliAccount is the ServiceAccount with which the command line calls the API. It has no permissions until an
 * administrator binds a role to it.
 */
export const cliAccount = companion(ServiceAccount, 'cli').content(({ config }: CompanionContext<Config>) =>
  config.api.enabled ? { automountServiceAccountToken: false } : undefined,
);
