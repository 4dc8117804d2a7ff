import { s } from '@bowline/runtime/resource';
import { OUR_MANAGERS } from './api/names.ts';
import { policyFields, policyRule } from './policy/config.ts';
import { PROVIDER_CONFIG } from './providers/provider-kinds.ts';

/** config is the operator's section of the configuration. */
export const config = s
  .object({
    ...policyFields,
    resyncPeriod: s
      .duration()
      .default('10h')
      .describe(
        'The interval at which every source is checked even if nothing has changed, plus or minus 10 %. The value is read only if the version has changed. 0s disables these checks.',
      ),
    permanentErrorRequeue: s
      .duration()
      .default('1m')
      .describe(
        'The delay before the first retry after an error that does not resolve by itself, such as a secret that does not exist. It increases up to 10 minutes. 0s: retry only when something changes.',
      ),
    managedBy: s
      .enum(OUR_MANAGERS)
      .default(OUR_MANAGERS[0])
      .describe(
        'The value of the label app.kubernetes.io/managed-by of new Secrets. JASM manages Secrets with either value.',
      ),
    allowDeletion: s
      .boolean()
      .default(false)
      .describe('Delete a Secret that no pod requests any more, if all its requesters set deletionPolicy Delete.'),
    deletionGrace: s
      .duration()
      .default('5m')
      .describe(
        'The delay between the deletion of the last requesting pod and the deletion of the Secret. It starts again when the operator is restarted.',
      ),
    allowRestart: s
      .boolean()
      .default(false)
      .describe('Allow restarting Deployments, StatefulSets and DaemonSets when a Secret that they requested changes.'),
    restart: s
      .boolean()
      .default(false)
      .describe('Whether workloads are restarted if neither the annotation nor the namespace specifies it.'),
    restartInterval: s
      .duration()
      .default('5m')
      .describe(
        'The minimum time between two restarts of a workload for one Secret. If the content changes several times within it, the workload is restarted once, for the last content.',
      ),
    perObjectMetrics: s
      .boolean()
      .default(false)
      .describe('Add the labels namespace and secret to the time of the last success. Every Secret adds a series.'),
    ...PROVIDER_CONFIG,
  })
  .rule(policyRule.rule, policyRule);
