import type { Deployment, KubernetesObject } from '@bowline/kubernetes';
import { LABELS, MANAGER } from '../api/names.ts';

/** The name of the older operator in its labels and images. */
const OLDER_NAME = 'hsm-secrets-operator';

const PART_OF = 'app.kubernetes.io/part-of';
const AGENT_COMPONENTS: readonly (string | undefined)[] = ['agent', 'hsm-agent'];
const AGENT_NAMES: readonly (string | undefined)[] = [OLDER_NAME, 'hsm-agent'];

/** isOlderManager reports whether a Deployment runs the manager of the older operator. */
export function isOlderManager(deployment: Deployment): boolean {
  const labels = deployment.metadata?.labels ?? {};
  if (isOurs(deployment) || isAgent(labels)) return false;
  const containers = deployment.spec?.template.spec?.containers ?? [];
  const isNamed = labels[LABELS.name] === OLDER_NAME || labels[PART_OF] === OLDER_NAME;
  const isManager =
    labels['control-plane'] === 'controller-manager' ||
    labels[LABELS.component] === 'manager' ||
    containers.some(({ name, args }) => name === 'manager' || args?.includes('--mode=manager'));
  return isManager && (isNamed || containers.some(({ image }) => imageName(image) === OLDER_NAME));
}

/** isRunning reports whether a Deployment has pods, or will have. */
export function isRunning({ spec, status }: Deployment): boolean {
  return (spec?.replicas ?? 1) > 0 || (status?.replicas ?? 0) > 0;
}

/** isOlderAgent reports whether a Deployment is an agent of the older operator, which sets no owner. */
export function isOlderAgent(deployment: KubernetesObject): boolean {
  return !isOurs(deployment) && !hasController(deployment) && isAgent(deployment.metadata?.labels ?? {});
}

/** isOlderDiscovery reports whether a DaemonSet searches for devices for the older operator. */
export function isOlderDiscovery(object: KubernetesObject): boolean {
  const labels = object.metadata?.labels ?? {};
  const isNamed = labels[LABELS.name] === OLDER_NAME || labels[PART_OF] === OLDER_NAME;
  return !isOurs(object) && isNamed && labels[LABELS.component] === 'discovery';
}

/** hasController reports whether another object controls this one, and so deletes it. */
export function hasController({ metadata }: KubernetesObject): boolean {
  return metadata?.ownerReferences?.some(({ controller }) => controller === true) ?? false;
}

function isOurs({ metadata }: KubernetesObject): boolean {
  return metadata?.labels?.[LABELS.managedBy] === MANAGER || metadata?.labels?.[PART_OF] === 'bowline';
}

function isAgent(labels: Readonly<Record<string, string>>): boolean {
  const isNamed = AGENT_NAMES.includes(labels[LABELS.name]) || labels[PART_OF] === OLDER_NAME;
  return isNamed && AGENT_COMPONENTS.includes(labels[LABELS.component]);
}

/** imageName returns the last part of the repository of an image, without its tag and digest. */
function imageName(image = ''): string {
  const [repository = ''] = image.split('@');
  return (repository.split('/').at(-1) ?? '').replace(/:.*$/, '');
}
