import type { ObjectKey } from '@bowline/kubernetes';
import { LABELS, labelValueOf, MANAGED_BY, MANAGER } from '../api/names.ts';

type Labels = Readonly<Record<string, string>>;

/** ownerLabels returns the labels that make a ConfigMap the copy of a ConfigMapSync. */
export function ownerLabels(sync: ObjectKey): Labels {
  return {
    [MANAGED_BY]: MANAGER,
    [LABELS.syncNamespace]: sync.namespace ?? '',
    [LABELS.syncName]: labelValueOf(sync.name),
  };
}

/**
 * ownerOf returns the ConfigMapSync that a ConfigMap's labels name, in the format of `ownerText`, or undefined if they
 * name none.
 */
export function ownerOf(labels: Labels): string | undefined {
  const { [MANAGED_BY]: manager, [LABELS.syncNamespace]: namespace, [LABELS.syncName]: name } = labels;
  return manager === MANAGER && namespace && name ? `${namespace}/${name}` : undefined;
}

/** ownerText returns a ConfigMapSync as labels can name it: long names are truncated. */
export function ownerText({ namespace = '', name }: ObjectKey): string {
  return `${namespace}/${labelValueOf(name)}`;
}
