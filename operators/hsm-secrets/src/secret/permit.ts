import { anyGlob } from '@bowline/machinery';
import type { HSMDevice } from '../api/hsm-device.ts';
import { SyncProblem } from './problem.ts';

/** ReadRequest is a read of a path for an HSMSecret. */
export interface ReadRequest {
  /** The namespace of the HSMSecret. */
  readonly namespace: string;
  readonly path: string;
}

/**
 * permissionProblem returns why an HSMSecret may not read a path; undefined if it may. HSMSecrets may read everything
 * on the devices of their own namespace. Devices of other namespaces need a rule in `spec.access`. The message does not
 * depend on whether the path exists.
 */
export function permissionProblem(device: HSMDevice, { namespace, path }: ReadRequest): SyncProblem | undefined {
  const { namespace: deviceNamespace = '', name = '' } = device.metadata ?? {};
  if (deviceNamespace === namespace) return undefined;
  const ownPaths = [`${namespace}/**`];
  const isPermitted = device.spec.access.some(
    (rule) => anyGlob(rule.namespaces)(namespace) && anyGlob(rule.paths ?? ownPaths)(path),
  );
  if (isPermitted) return undefined;
  const rule = JSON.stringify({ namespaces: [namespace], paths: [path] });
  return new SyncProblem(
    'NotPermitted',
    `the HSMDevice ${deviceNamespace}/${name} does not permit the namespace ${namespace} to read ${path}; its owner can add ${rule} to its spec.access`,
  );
}
