import type { StepResponse } from '../../compare-kinds.test-support.ts';

/** Fields that admission adds to pods; a server without admission does not. */
const ADMITTED = [
  'serviceAccount',
  'serviceAccountName',
  'priority',
  'preemptionPolicy',
  'tolerations',
  'enableServiceLinks',
];

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/**
 * withoutAdmission drops the fields that admission adds to pods, and message text that depends on a server's own types.
 */
export function withoutAdmission({ body, ...rest }: StepResponse): StepResponse {
  const text = JSON.stringify(body, (name, value: unknown) => {
    if (ADMITTED.includes(name)) return undefined;
    if (name === 'volumes' || name === 'volumeMounts') {
      const others = (value as { name?: string }[]).filter((each) => !each.name?.startsWith('kube-api-access-'));
      return others.length === 0 ? undefined : others;
    }
    if (name === 'taints') {
      // Admission and a controller keep these taints in sync with the node's conditions.
      const others = (value as { key?: string }[]).filter(({ key }) => !key?.startsWith('node.kubernetes.io/'));
      return others.length === 0 ? undefined : others;
    }
    if (name === 'lastTransitionTime' && value !== null) return 'then';
    if (name === 'message' && typeof value === 'string') return ownMessage(value);
    return value;
  });
  return { ...rest, body: JSON.parse(text.replaceAll(UUID, 'uid')) as unknown };
}

/** ownMessage removes what the real server prints of its own types: diffs of structs, and templates. */
function ownMessage(message: string): string {
  return message
    .replace(/(pod updates may not change fields[^\n]*)\n.*/s, '$1')
    .replace(
      /(spec\.template: )?Invalid value: \{.*\}: field is immutable/s,
      '$1Invalid value: {…}: field is immutable',
    )
    .replaceAll(/Invalid value: \{[^`]*\}: cannot set/g, 'Invalid value: {…}: cannot set');
}

/** withoutControllers drops the fields that controllers write: our server runs none in these tests. */
export function withoutControllers({ body, ...rest }: StepResponse): StepResponse {
  const text = JSON.stringify(body, (name, value: unknown) => {
    if (name === 'status' && typeof value === 'object') return undefined;
    if (name !== 'annotations') return value;
    const others = Object.entries(value as object).filter(([key]) => !CONTROLLERS.includes(key));
    return others.length === 0 ? undefined : Object.fromEntries(others);
  });
  return { ...rest, body: JSON.parse(text) as unknown };
}

const CONTROLLERS = ['deployment.kubernetes.io/revision', 'node.alpha.kubernetes.io/ttl'];
