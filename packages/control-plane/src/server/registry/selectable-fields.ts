import type { KubernetesObject } from '@bowline/kubernetes';

type Read = (object: KubernetesObject) => string;

/** fieldAt returns a function that reads the field at a path as the text that a field selector compares. */
function fieldAt(path: string): Read {
  const names = path.split('.');
  return (object) => {
    let value: unknown = object;
    for (const name of names) value = (value as Readonly<Record<string, unknown>> | undefined)?.[name];
    return value === undefined || value === null ? '' : String(value);
  };
}

function fields(...paths: readonly string[]): Map<string, Read> {
  return new Map(paths.map((path) => [path, fieldAt(path)]));
}

/**
 * SELECTABLE_FIELDS holds the fields that field selectors of a built-in kind may use, besides name and namespace, by
 * `Kind.group`.
 */
export const SELECTABLE_FIELDS: Readonly<Record<string, ReadonlyMap<string, Read>>> = {
  'Pod.': new Map([
    ...fields(
      'spec.nodeName',
      'spec.restartPolicy',
      'spec.schedulerName',
      'spec.serviceAccountName',
      'spec.hostNetwork',
      'status.phase',
      'status.podIP',
      'status.nominatedNodeName',
    ),
    ['spec.hostNetwork', (object) => fieldAt('spec.hostNetwork')(object) || 'false'],
  ]),
  'Event.': fields(
    'involvedObject.kind',
    'involvedObject.namespace',
    'involvedObject.name',
    'involvedObject.uid',
    'involvedObject.apiVersion',
    'involvedObject.resourceVersion',
    'involvedObject.fieldPath',
    'reason',
    'reportingComponent',
    'source',
    'type',
  ).set('source', (object) => fieldAt('source.component')(object) || fieldAt('reportingComponent')(object)),
  'Event.events.k8s.io': fields(
    'regarding.kind',
    'regarding.namespace',
    'regarding.name',
    'regarding.uid',
    'regarding.apiVersion',
    'regarding.resourceVersion',
    'regarding.fieldPath',
    'reason',
    'reportingController',
    'type',
  ),
  'Namespace.': fields('status.phase'),
  'Node.': new Map([['spec.unschedulable', (object) => fieldAt('spec.unschedulable')(object) || 'false']]),
  'Secret.': fields('type'),
  'Service.': fields('spec.clusterIP', 'spec.type'),
  'Job.batch': new Map([['status.successful', (object) => fieldAt('status.succeeded')(object) || '0']]),
};
