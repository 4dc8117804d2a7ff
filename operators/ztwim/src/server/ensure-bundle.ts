import { ConfigMap, type KubernetesObject } from '@bowline/kubernetes';
import { REPLACED_LABEL } from '../api/names.ts';
import { MANAGED_BY, objectLabels } from '../objects/labels.ts';
import type { OperandCondition } from '../operand/condition.ts';
import { isForeign } from '../operand/is-foreign.ts';
import { isRefusal } from '../operand/is-refusal.ts';
import type { ServerContext } from './controller.ts';
import { type ServerInput, serverComponent } from './server-input.ts';

/** Tells bundles from the configuration files of the server. */
const BUNDLE_ANNOTATION = 'ztwim.io/bundle';

/** isBundle reports whether an object of the server is the ConfigMap of a trust bundle. */
export function isBundle({ metadata }: KubernetesObject): boolean {
  return metadata?.annotations?.[BUNDLE_ANNOTATION] !== undefined;
}

/** bundleConfigMap returns the ConfigMap of the trust bundle as it is created: without content. */
export function bundleConfigMap(input: ServerInput): ConfigMap {
  const { config, values } = input;
  const labels = objectLabels(input, serverComponent(input));
  const annotations = { [BUNDLE_ANNOTATION]: 'true' };
  return { metadata: { namespace: config.operandNamespace, name: values.bundleConfigMap, labels, annotations } };
}

/**
 * ensureBundle creates the ConfigMap of the trust bundle if there is none. Only SPIRE writes its content, and one that
 * belongs to somebody else is used as it is.
 */
export async function ensureBundle(context: ServerContext, input: ServerInput): Promise<OperandCondition> {
  if (!input.config.createOnly) await labelReplaced(context, input.values.bundleConfigMap);
  return create(context, input);
}

/** The bundles of former names stay until the server is deleted, because pods may still mount them. */
async function labelReplaced({ list, live }: ServerContext, current: string): Promise<void> {
  for (const bundle of list(ConfigMap).filter(isBundle)) {
    const { namespace, name = '', uid, labels } = bundle.metadata ?? {};
    const isReplaced = labels?.[REPLACED_LABEL] === 'true';
    if (isReplaced === (name !== current)) continue;
    const body = { metadata: { uid, labels: { [REPLACED_LABEL]: isReplaced ? null : 'true' } } };
    await live.patch(ConfigMap, { namespace, name }, { type: 'merge', body });
  }
}

async function create({ createOnce }: ServerContext, input: ServerInput): Promise<OperandCondition> {
  const { config, values } = input;
  const key = { namespace: config.operandNamespace, name: values.bundleConfigMap };
  const condition = (message: string): OperandCondition => ({
    type: 'BundleConfigAvailable',
    status: true,
    reason: 'Ready',
    message,
  });
  try {
    await createOnce(ConfigMap, key, () => bundleConfigMap(input), { labels: MANAGED_BY });
    return condition(`SPIRE writes the bundle to the ConfigMap ${key.name}`);
  } catch (error) {
    if (isRefusal(error)) return { ...condition(error.message), status: false, reason: 'Failed' };
    if (!isForeign(error)) throw error;
    return condition(`SPIRE writes the bundle to the ConfigMap ${key.name}, which this operator did not create`);
  }
}
