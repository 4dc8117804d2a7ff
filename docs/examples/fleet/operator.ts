import { ClusterRole, DaemonSet } from '@bowline/kubernetes';
import { allow, defineOperator } from '@bowline/runtime';
import { agent, enforced, reports } from './companions.ts';
import { CREATED_BY, fleets } from './controller.ts';
import { Fleet } from './fleet.ts';

/** fleet is the operator: it runs agents, and may give them a role that it does not have itself. */
export const fleet = defineOperator({
  name: 'fleets',
  domain: 'example.com',
  resources: [Fleet],
  setup: ({ nameOf }) => ({ agentRole: nameOf(agent) }),
  controllers: [fleets],
  companions: [agent, reports, enforced],
  permissions: [allow(['bind'], ClusterRole, { names: [agent.name] })],
  createdWorkloads: Object.entries(CREATED_BY).map(([label, value]) => ({
    resource: DaemonSet,
    labelSelector: `${label}=${value}`,
  })),
});
