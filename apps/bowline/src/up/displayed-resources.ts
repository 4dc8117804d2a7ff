import { type KubernetesObject, keyOf, keyString, parseApiVersion, type Resource } from '@bowline/kubernetes';
import { labelSelector } from '@bowline/machinery';
import { type Operator, OWN_NAMESPACE, type Sample, show } from '@bowline/runtime';
import type { DisplayedResource, DisplayState } from '@bowline/runtime/manager';
import { MANAGER_NAMESPACE } from './install-operators.ts';

interface Conditioned extends KubernetesObject {
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly message?: string;
      readonly observedGeneration?: number;
    }[];
  };
}

/**
 * displayedResources returns the kinds whose objects show the effect of an operator: those that it declares, and its
 * own kinds with a status. The state of a kind without a status can only be declared.
 */
export function displayedResources({ resources, local }: Operator): readonly DisplayedResource[] {
  const declared = local.displayedResources ?? [];
  const own = resources.filter(
    (kind) => kind.hasStatus && !declared.some(({ resource }) => isSameKind(resource, kind)),
  );
  return [...own.map((kind) => show(kind as Resource<Conditioned>, { state: readiness })), ...declared];
}

/**
 * statesToAwait returns the states to wait for, as `Kind namespace/name`: those of an operator's samples of its own
 * kinds that are displayed, and of the objects that it declares as their result.
 */
export function statesToAwait(operator: Operator): readonly string[] {
  const displayed = displayedResources(operator);
  const samples = operator.samples.filter(
    (sample) => isOwn(operator, sample) && displayed.some((each) => includes(each, sample)),
  );
  return [
    ...samples.map((sample) => `${sample.kind} ${keyString(keyOf(inManagerNamespace(sample)))}`),
    ...displayed.flatMap(({ resource, awaits }) => awaits.map((key) => `${resource.kind} ${key}`)),
  ];
}

/** inManagerNamespace replaces OWN_NAMESPACE in a sample. */
export function inManagerNamespace(sample: Sample): Sample {
  if (sample.metadata?.namespace !== OWN_NAMESPACE) return sample;
  return { ...sample, metadata: { ...sample.metadata, namespace: MANAGER_NAMESPACE } };
}

function isOwn({ resources }: Operator, sample: Sample): boolean {
  return resources.some((resource) => isSameKind(resource, kindOf(sample)));
}

/** includes reports whether the objects of a displayed kind include a sample. */
function includes({ resource, labelSelector: selector = '' }: DisplayedResource, sample: Sample): boolean {
  return isSameKind(resource, kindOf(sample)) && labelSelector(selector).matches(sample.metadata?.labels ?? {});
}

type GroupKind = Pick<Resource, 'group' | 'kind'>;

function kindOf({ apiVersion, kind }: Sample): GroupKind {
  return { group: parseApiVersion(apiVersion).group, kind };
}

function isSameKind(a: GroupKind, b: GroupKind): boolean {
  return a.group === b.group && a.kind === b.kind;
}

/** readiness returns the state of the condition `Ready`, if it is about the current generation. */
function readiness({ metadata, status }: Conditioned): DisplayState {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (!ready) return { isReady: false, message: 'not reconciled yet' };
  const isCurrent = ready.observedGeneration === undefined || ready.observedGeneration === metadata?.generation;
  if (!isCurrent) return { isReady: false, message: 'reconciling' };
  return { isReady: ready.status === 'True', message: ready.message ?? '' };
}
