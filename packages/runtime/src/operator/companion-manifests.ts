import {
  apiVersionOf,
  type KubernetesObject,
  type Resource,
  ValidatingAdmissionPolicyBinding,
} from '@bowline/kubernetes';
import { BowlineError } from '../errors/bowline-error.ts';
import { NAME, operatorIdentity, PART_OF } from '../identity/operator-identity.ts';
import { resolveOwnName } from '../permissions/own-names.ts';
import { requireNamespaces } from '../webhook/namespace-selector.ts';
import type { Companion, CompanionContext } from './companion.ts';
import type { Operator } from './operator.ts';

/** CompanionOptions describes the install that companions belong to. */
export interface CompanionOptions {
  /** The manager's namespace. */
  readonly namespace: string;
  /** The namespaces that the install is limited to. Defaults to the whole cluster. */
  readonly namespaces?: readonly string[] | undefined;
  /** The name of the install; see `RbacOptions.name`. Defaults to `<vendor>-<operator>`. */
  readonly name?: string | undefined;
  /** The manager's ServiceAccount. Defaults to `<vendor>-<operator>`. */
  readonly serviceAccount?: string | undefined;
}

/** CompanionManifest is a companion as it is applied. */
export interface CompanionManifest {
  readonly resource: Resource<KubernetesObject>;
  readonly object: KubernetesObject;
}

/**
 * companionManifests returns the companions of an operator for an install, in the order in which they are declared.
 * They carry the labels of the install. An admission policy binding is limited to the namespaces that the install is
 * limited to. If the operator has a configuration, pass the operator that `withConfig` returns; else it throws
 * BOWLINE_OPERATOR_UNCONFIGURED.
 */
export function companionManifests(operator: Operator, options: CompanionOptions): readonly CompanionManifest[] {
  const { objectName } = operatorIdentity(operator);
  const { namespace, namespaces, name: installName = objectName, serviceAccount = objectName } = options;
  const nameOf = ({ name }: Companion): string => resolveOwnName(name, installName);
  // An operator without a configuration declares companions that expect none.
  const context: CompanionContext<never> = {
    config: undefined as never,
    namespace,
    serviceAccount,
    namespaces,
    nameOf,
  };
  return operator.companions.flatMap((companion) => {
    requireConfig(operator, companion);
    const content = companion.content(context);
    if (!content) return [];
    const { resource } = companion;
    const { metadata } = content;
    const labels = { ...metadata?.labels, ...companionLabels(operator, companion, namespace) };
    const place = resource.scope === 'Namespaced' ? { namespace: metadata?.namespace ?? namespace } : {};
    const object: KubernetesObject = {
      ...content,
      apiVersion: apiVersionOf(resource),
      kind: resource.kind,
      metadata: { ...metadata, ...place, name: nameOf(companion), labels },
    };
    return [{ resource, object: limited(resource, object, namespaces) }];
  });
}

/** companionLabels returns the labels by which a stored companion is recognized as that of an install. */
function companionLabels(
  operator: Operator,
  { suffix }: Pick<Companion, 'suffix'>,
  namespace: string,
): Readonly<Record<string, string>> {
  const { vendor, labels } = operatorIdentity(operator);
  return {
    [NAME]: operator.name,
    [PART_OF]: vendor,
    [labels.installedIn]: namespace,
    [labels.companion]: suffix,
  };
}

function requireConfig(operator: Operator, { resource, suffix, isConfigured }: Companion): void {
  const { name, config, namespaces } = operator;
  if (isConfigured || (config === undefined && namespaces.length === 0)) return;
  throw new BowlineError(
    'BOWLINE_OPERATOR_UNCONFIGURED',
    `cannot determine the ${resource.kind} ${suffix} of the operator ${name}: it depends on its configuration; provide it with withConfig(operator, section)`,
  );
}

/** An install that is limited to namespaces must not decide about requests in others. */
function limited(
  resource: Resource,
  object: KubernetesObject,
  namespaces: readonly string[] | undefined,
): KubernetesObject {
  if (namespaces === undefined || resource.id !== ValidatingAdmissionPolicyBinding.id) return object;
  const { spec, ...binding } = object as ValidatingAdmissionPolicyBinding;
  const { matchResources } = spec ?? {};
  const namespaceSelector = requireNamespaces(matchResources?.namespaceSelector, namespaces);
  const limitedBinding: ValidatingAdmissionPolicyBinding = {
    ...binding,
    spec: { ...spec, matchResources: { ...matchResources, namespaceSelector } },
  };
  return limitedBinding;
}
