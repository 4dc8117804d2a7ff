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
        'How often every source is looked at although nothing happened, a tenth more or less: its version, and its value only if that is another. 0s: never.',
      ),
    permanentErrorRequeue: s
      .duration()
      .default('1m')
      .describe(
        'How soon it is tried again what only somebody can mend, such as a secret that does not exist; later each time, up to 10 minutes. 0s: not before something changes.',
      ),
    managedBy: s
      .enum(OUR_MANAGERS)
      .default(OUR_MANAGERS[0])
      .describe(
        'The value of the label app.kubernetes.io/managed-by of Secrets that are written. Either makes a Secret ours.',
      ),
    allowDeletion: s
      .boolean()
      .default(false)
      .describe(
        'Delete Secrets whose askers all said so with deletionPolicy Delete, after the last of their pods is gone.',
      ),
    deletionGrace: s
      .duration()
      .default('5m')
      .describe('How long after the last pod is gone a Secret is deleted. A restart of the operator begins it anew.'),
    allowRestart: s
      .boolean()
      .default(false)
      .describe(
        'Restart Deployments, StatefulSets and DaemonSets when a Secret of theirs changes, where somebody wants it.',
      ),
    restart: s
      .boolean()
      .default(false)
      .describe('Whether that is wanted where neither the annotation nor the namespace says it.'),
    restartInterval: s
      .duration()
      .default('5m')
      .describe(
        'The least time between two restarts of a workload for one Secret. Of the contents that come sooner, the last one counts.',
      ),
    perObjectMetrics: s
      .boolean()
      .default(false)
      .describe('Label metrics with namespace and name of each Secret. Every one of them adds series.'),
    ...PROVIDER_CONFIG,
  })
  .rule(policyRule.rule, policyRule);
