import type { Said } from '../../compare-kinds.test-support.ts';

/** What admission adds to pods; a server without admission does not. */
const ADMITTED = [
  'serviceAccount',
  'serviceAccountName',
  'priority',
  'preemptionPolicy',
  'tolerations',
  'enableServiceLinks',
];

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** withoutAdmission drops what admission adds to pods, and prose that depends on a server's own types. */
export function withoutAdmission({ body, ...rest }: Said): Said {
  const text = JSON.stringify(body, (name, value: unknown) => {
    if (ADMITTED.includes(name)) return undefined;
    if (name === 'volumes' || name === 'volumeMounts') {
      const others = (value as { name?: string }[]).filter((each) => !each.name?.startsWith('kube-api-access-'));
      return others.length === 0 ? undefined : others;
    }
    if (name === 'taints') {
      // Admission and a controller keep those in step with the node's conditions.
      const others = (value as { key?: string }[]).filter(({ key }) => !key?.startsWith('node.kubernetes.io/'));
      return others.length === 0 ? undefined : others;
    }
    if (name === 'lastTransitionTime' && value !== null) return 'then';
    if (name === 'message' && typeof value === 'string') return ownWords(value);
    return value;
  });
  return { ...rest, body: JSON.parse(text.replaceAll(UUID, 'uid')) as unknown };
}

/** ownWords cuts what the real server writes of its own types: differences of structures, and templates. */
function ownWords(message: string): string {
  return message
    .replace(/(pod updates may not change fields[^\n]*)\n.*/s, '$1')
    .replace(
      /(spec\.template: )?Invalid value: \{.*\}: field is immutable/s,
      '$1Invalid value: {…}: field is immutable',
    )
    .replaceAll(/Invalid value: \{[^`]*\}: cannot set/g, 'Invalid value: {…}: cannot set');
}

/** withoutControllers drops what controllers write: our server of these tests has none. */
export function withoutControllers({ body, ...rest }: Said): Said {
  const text = JSON.stringify(body, (name, value: unknown) => {
    if (name === 'status' && typeof value === 'object') return undefined;
    if (name !== 'annotations') return value;
    const others = Object.entries(value as object).filter(([key]) => !CONTROLLERS.includes(key));
    return others.length === 0 ? undefined : Object.fromEntries(others);
  });
  return { ...rest, body: JSON.parse(text) as unknown };
}

const CONTROLLERS = ['deployment.kubernetes.io/revision', 'node.alpha.kubernetes.io/ttl'];
