import { Namespace, Pod, ValidatingWebhookConfiguration } from '@bowline/kubernetes';
import { admit, admitChanged, deny, mutating } from '@bowline/runtime';
import type { AuthorReviewDeps } from '@bowline/runtime/access';
import type { ConfiguredBy, Webhook } from '@bowline/runtime/webhook';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { LABELS, POD_ANNOTATIONS } from '../api/names.ts';
import { authors } from '../authorization/author-review.ts';
import type { Config } from '../config.ts';
import { type Injection, injectAgent } from '../injection/inject-agent.ts';

/** InjectDeps is the part of the operator's dependencies that the injection needs. */
export interface InjectDeps extends AuthorReviewDeps {
  readonly config: Config;
  /** The image of agents whose IgnitionSync names none. Undefined: there is none. */
  readonly agentImage: string | undefined;
  readonly metrics: { injected(result: Injection['result']): void };
}

const ANNOTATIONS = 'object.metadata.annotations';
const EXCLUDED_NAMESPACES = ['kube-system', 'kube-node-lease'];

/**
 * inject is the webhook that adds an agent to the pods that request one. The API server sends no other pods. A pod whose
 * webhook cannot be called starts without an agent, and its IgnitionSync reports it.
 */
export const inject: Webhook<InjectDeps> & ConfiguredBy<Config> = mutating(Pod, {
  name: 'inject',
  path: '/mutate-v1-pod',
  operations: ['CREATE'],
  matchConditions: [
    {
      name: 'requests-agent',
      expression: `has(${ANNOTATIONS}) && '${POD_ANNOTATIONS.inject}' in ${ANNOTATIONS} && ${ANNOTATIONS}['${POD_ANNOTATIONS.inject}'] == 'true'`,
    },
  ],
  namespaceSelector: ({ requireNamespaceLabel }: Config) => ({
    matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: EXCLUDED_NAMESPACES }],
    ...(requireNamespaceLabel ? { matchLabels: { [LABELS.injection]: 'enabled' } } : {}),
  }),
  failurePolicy: 'Ignore',
  // Another webhook may add a data volume, or containers with the names of ours.
  reinvocationPolicy: 'IfNeeded',
  sideEffects: 'None',
  timeoutSeconds: 10,
})
  .using<InjectDeps>()
  .reads(ValidatingWebhookConfiguration, authors.configuration)
  .reads(Namespace, { view: 'metadata', clusterWideOnly: true })
  .handle(async (request) => {
    const { object, namespace = '', live, deps, log } = request;
    // Not from the cache: the IgnitionSync is often created just before the pods, and a pod is not injected later.
    const { items: syncs } = await live.list(IgnitionSync, { namespace });
    const untrusted = authors.isTrustedIn(request, namespace) ? undefined : authors.unreviewed(namespace);
    const { config, agentImage: image } = deps;
    const injection = injectAgent(object, { syncs, untrusted, config, image });
    if (!request.dryRun) deps.metrics.injected(injection.result);
    switch (injection.result) {
      case 'unchanged':
        return admit();
      case 'denied':
        return deny(injection.message);
      case 'injected':
        return admitChanged(injection.pod, { warnings: injection.warnings });
      case 'not-injected':
        log.warn('pod admitted without an agent', { reason: injection.reason });
        return admitChanged(injection.pod, { warnings: [`no agent was injected: ${injection.reason}`] });
    }
  });
