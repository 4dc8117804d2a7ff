import { ConfigMap } from '@bowline/kubernetes';
import { BowlineError } from '@bowline/machinery';
import { type BackupTools, saveBackup } from '@bowline/runtime/writing';
import { SQLITE_PATH } from '../api/datastore.ts';
import { OPERAND_KINDS } from '../api/operand-kinds.ts';
import type { SpireServer } from '../api/spire-server.ts';
import type { SharedSpec } from '../objects/operand-input.ts';
import type { SharedObjects } from '../operand/shared-objects.ts';
import type { SharedValues } from '../resolve/shared-config.ts';
import { renderFile } from '../spire/rendered-file.ts';

/** BACKUP is the name of the first backup. One with other content gets a suffix. */
export const BACKUP = 'ztwim-migration-backup';

const KINDS = ['ZeroTrustWorkloadIdentityManager', ...OPERAND_KINDS] as const;

/** SavedKind is a kind whose spec is saved. */
export type SavedKind = (typeof KINDS)[number];

/** SavedObject is one of the five objects before the migration. */
export interface SavedObject {
  readonly uid: string;
  /** Shared values are read from it; the rest is for people. */
  readonly spec: SharedValues & Pick<SharedSpec, 'bundleConfig'>;
}

/** Backup holds the objects that existed before a migration, by kind. */
export type Backup = { readonly [K in SavedKind]?: SavedObject | undefined };

/** save saves the specs and returns the name of the ConfigMap. It is never overwritten, and never deleted automatically. */
export async function save(tools: BackupTools, namespace: string, objects: SharedObjects): Promise<string> {
  const { name } = await saveBackup<ConfigMap>(tools, {
    resource: ConfigMap,
    key: { namespace, name: BACKUP },
    content: { immutable: true, data: backupData(objects) },
  });
  return name;
}

/** backupData returns the content of a backup: one key per kind, with canonical JSON. */
export function backupData({ parent, operands }: SharedObjects): Record<string, string> {
  const { SpireServer: server, ...others } = operands;
  const objects = {
    ZeroTrustWorkloadIdentityManager: parent,
    SpireServer: server && withoutConnection(server),
    ...others,
  };
  return Object.fromEntries(
    KINDS.flatMap((kind) => {
      const object = objects[kind];
      return object ? [[kind, renderFile({ uid: object.metadata?.uid, spec: object.spec }).text]] : [];
    }),
  );
}

/**
 * A connection string may contain a password, and more users may read ConfigMaps than SpireServers. It would also stay
 * in the backup after the user has moved it to a Secret. No migration changes it, so no rollback needs it.
 */
function withoutConnection(server: SpireServer): { metadata: SpireServer['metadata']; spec: object } {
  const { metadata, spec } = server;
  const { connectionString, ...datastore } = spec.datastore;
  return { metadata, spec: connectionString === SQLITE_PATH ? spec : { ...spec, datastore } };
}

/** readBackup parses a backup. */
export function readBackup({ metadata, data = {} }: ConfigMap): Backup {
  return Object.fromEntries(
    KINDS.flatMap((kind) => {
      const text = data[kind];
      return text === undefined ? [] : [[kind, parse(kind, text, metadata?.name)]];
    }),
  );
}

function parse(kind: SavedKind, text: string, name: string | undefined): SavedObject {
  try {
    const { uid, spec } = JSON.parse(text) as Partial<SavedObject>;
    if (typeof uid === 'string' && typeof spec === 'object' && spec !== null) return { uid, spec };
  } catch {
    // Reported below, without the text.
  }
  throw new BowlineError(
    'BOWLINE_ZTWIM_BACKUP_INVALID',
    `the key ${kind} of the ConfigMap ${name} is not a backup of the migration; restore the ConfigMap, or set the annotation ztwim.io/migration to run`,
  );
}
