import { kubectlOf } from '@bowline/control-plane/testing';
import { expect, it } from 'vitest';
import { startScenario } from './scenario.test-support.ts';

it('syncs an object with only the three fields of the original kind', async () => {
  await using c = await startScenario();
  const kubectl = await kubectlOf(c);
  await kubectl(
    ['apply', '-f', '-'],
    `
apiVersion: v1
kind: ConfigMap
metadata: { name: app-config, namespace: ${c.namespace} }
data: { color: red }
---
apiVersion: sync.bowline.dev/v1
kind: ConfigMapSync
metadata: { name: app-config, namespace: ${c.namespace} }
spec:
  sourceNamespace: ${c.namespace}
  destinationNamespace: ${c.target}
  configMapName: app-config
`,
  );
  await kubectl(['wait', 'cms/app-config', '-n', c.namespace, '--for=condition=Ready', '--timeout=20s']);
  const color = ['get', 'configmap/app-config', '-n', c.target, '-o', 'jsonpath={.data.color}'];
  expect(await kubectl(color)).toBe('red');
  const [header, row] = (await kubectl(['get', 'cmsync', '-n', c.namespace])).split('\n').map(cellsOf);
  expect(header).toEqual(['NAME', 'SOURCE', 'CONFIGMAP', 'DESTINATIONS', 'SYNCED', 'READY', 'LASTSYNC', 'AGE']);
  expect(row?.slice(0, 6)).toEqual(['app-config', c.namespace, 'app-config', '1', '1', 'True']);

  await kubectl(['delete', 'cms/app-config', '-n', c.namespace, '--timeout=20s']);
  expect(await kubectl(['get', 'configmap/app-config', '-n', c.target, '--ignore-not-found'])).toBe('');
});

function cellsOf(line: string): readonly string[] {
  return line.trim().split(/ {2,}/);
}
