import { describe, expect, it } from 'vitest';
import { SpireServer } from '../api/spire-server.ts';
import { backupAvailable, CLAIMS } from './backup.ts';

const server = (deletion: object) => SpireServer.withDefaults({ metadata: { name: 'cluster' }, spec: { deletion } });

describe('backupAvailable', () => {
  it.each<[string, object, boolean, readonly (readonly [boolean, string])[]]>([
    ['claims stay', { backup: 'VolumeSnapshot' }, true, []],
    ['no backup is wanted', { persistentVolumeClaims: 'Delete' }, true, []],
    ['snapshots are served', { persistentVolumeClaims: 'Delete', backup: 'VolumeSnapshot' }, true, [[true, 'Ready']]],
    [
      'snapshots are not served',
      { persistentVolumeClaims: 'Delete', backup: 'VolumeSnapshot' },
      false,
      [[false, 'NotServed']],
    ],
  ])('reports whether claims can be backed up if %s', (_, deletion, isServed, expected) => {
    expect(backupAvailable(server(deletion), isServed).map(({ status, reason }) => [status, reason])).toEqual(expected);
  });
});

describe('CLAIMS', () => {
  it('names a claim for as many servers as the schema allows', () => {
    const { replicas } = server({}).spec;
    expect(CLAIMS.slice(0, replicas)).toEqual(['spire-data-spire-server-0']);
    const problems = (count: number) =>
      SpireServer.validate({
        ...server({}),
        spec: {
          ...server({}).spec,
          replicas: count,
          datastore: { ...server({}).spec.datastore, databaseType: 'mysql' },
        },
      });
    expect(problems(CLAIMS.length)).toEqual([]);
    expect(problems(CLAIMS.length + 1)).not.toEqual([]);
  });
});
