import { keyOf } from '@bowline/kubernetes';
import { fieldManagerOf } from '@bowline/runtime';
import { ConfigMapSync } from '../api/config-map-sync.ts';
import { OPERATOR, REQUESTS } from '../api/names.ts';
import type { CopyTools } from '../copies/copy-requests.ts';
import { ownerText } from '../copies/ownership.ts';
import type { CopyRules } from '../copies/plan-copy.ts';
import type { WriteCopiesOptions } from '../copies/write-copies.ts';
import type { SyncContext } from './watching.ts';

/** FIELD_MANAGER owns what we write in copies. It is API. */
export const FIELD_MANAGER = fieldManagerOf(OPERATOR, 'configmapsync');

/** copyTools are what writing copies needs of a run. */
export function copyTools({ live, clock, log, get }: SyncContext): CopyTools {
  return {
    client: live,
    fieldManager: FIELD_MANAGER,
    clock,
    log,
    find: ({ namespace, name }) => get('copies', { namespace, name }),
  };
}

/** copyLimits bound the writes of a run. */
export function copyLimits({ deps, signal }: SyncContext): WriteCopiesOptions {
  return { limit: deps.config.maxWritesInFlight, signal };
}

/** copyRules are what decides about the copies of a ConfigMapSync. */
export function copyRules(context: SyncContext): CopyRules {
  const { object, list, deps } = context;
  const { conflictPolicy: policy, adoptExisting } = object.spec;
  return {
    owner: ownerText(keyOf(object)),
    uid: object.metadata?.uid ?? '',
    isAlive: (owner) => {
      const [namespace = ''] = owner.split('/');
      // What is in namespaces that we may not see may well exist.
      if (deps.namespaces && !deps.namespaces.includes(namespace)) return true;
      return list(ConfigMapSync, { by: { owner } }).length > 0;
    },
    policy,
    adoptExisting,
    isForced: forcedBy(context) !== undefined,
  };
}

/** forcedBy is the value of the annotation by which somebody asks for a sync over conflicts; undefined once it is done. */
export function forcedBy({ object }: Pick<SyncContext, 'object'>): string | undefined {
  const asked = object.metadata?.annotations?.[REQUESTS.forceSync];
  return asked === object.status?.lastHandledForceSync ? undefined : asked;
}
