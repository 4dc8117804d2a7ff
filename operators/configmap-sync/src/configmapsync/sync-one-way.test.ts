import { ConfigMap } from '@bowline/kubernetes';
import type { Log } from '@bowline/runtime';
import { ApiError } from '@bowline/runtime/client';
import { silentLog } from '@bowline/runtime/manager';
import { expect, it } from 'vitest';
import type { SyncContext } from './sync-controller.ts';
import { syncOneWay } from './sync-one-way.ts';

/** The error of the API server for a create in a namespace that is being deleted. */
const terminating = new ApiError({
  request: { verb: 'create', resource: ConfigMap, namespace: 'going', path: '/api/v1/namespaces/going/configmaps' },
  status: 403,
  body: {
    reason: 'Forbidden',
    message: 'unable to create new content in namespace going because it is being terminated',
    details: { causes: [{ reason: 'NamespaceTerminating', message: 'namespace going is being terminated' }] },
  },
});

it('reports a namespace that is being deleted only if it is named, not if it is selected', async () => {
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (message) => void warnings.push(message) };
  const source = { metadata: { namespace: 'team', name: 'source', uid: 's' }, content: { data: {}, binaryData: {} } };
  const context = {
    object: { metadata: { namespace: 'team', name: 'sync', uid: 'u' }, spec: { adoptExisting: false } },
    deps: { config: { maxWritesInFlight: 1 } },
    signal: new AbortController().signal,
    log,
    get: () => undefined,
    list: () => [],
    ensure: () => Promise.reject(terminating),
  };
  const write = (selected: boolean) =>
    syncOneWay(context as unknown as SyncContext, source as never, [{ namespace: 'going', name: 'copy', selected }]);

  expect(await write(true)).toEqual([]);
  expect(warnings).toEqual([]);
  expect(await write(false)).toMatchObject([{ obstacle: { state: 'Pending', reason: 'NamespaceTerminating' } }]);
});
