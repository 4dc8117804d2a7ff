import type { Connection } from '../../support/connection.ts';
import { RevisionWatch } from '../../support/revision-watch.ts';

/** watchCopies watches the copies of one name in all namespaces. */
export function watchCopies(connection: Connection, name: string): RevisionWatch {
  return new RevisionWatch(connection, '/api/v1/configmaps', `fieldSelector=metadata.name%3D${name}`);
}
