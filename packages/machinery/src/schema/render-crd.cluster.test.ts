import { connectClient } from '@bowline/control-plane';
import { sharedControlPlane } from '@bowline/control-plane/testing';
import { CustomResourceDefinition } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { sampleKinds } from './fixtures/sample-kinds.ts';
import { renderCustomResourceDefinition } from './render-crd.ts';

describe('renderCustomResourceDefinition', () => {
  it.each(sampleKinds.map((kind) => [kind.kind, kind] as const))(
    'renders a CRD that the API server accepts: %s',
    async (_, kind) => {
      const controlPlane = await sharedControlPlane();
      await using client = await connectClient(await controlPlane.kubeconfig('admin'));
      const crd = renderCustomResourceDefinition(kind);
      const applied = await client.patch(
        CustomResourceDefinition,
        { name: crd.metadata?.name ?? '' },
        { type: 'apply', body: crd, force: true },
        { dryRun: true, fieldManager: 'bowline-test' },
      );
      expect(applied.spec.names.kind).toBe(kind.kind);
    },
  );
});
