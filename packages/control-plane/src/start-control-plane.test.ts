import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { type ControlPlaneOptions, startControlPlane } from './start-control-plane.ts';

describe('startControlPlane', () => {
  it('rejects an unknown kind', async () => {
    // @ts-expect-error a caller without types
    const starting = startControlPlane({ kind: 'minikube' });
    await expect(starting).rejects.toMatchObject({ message: expect.stringContaining('"minikube"') });
  });

  it.each(['kubernetes', 'embedded'] as const)(
    'rejects a port that another process listens on before it starts anything: %s',
    async (kind) => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const address = server.address();
      const port = typeof address === 'object' && address ? address.port : 0;
      try {
        await expect(startControlPlane({ kind, port, env: { PATH: '' } } as ControlPlaneOptions)).rejects.toMatchObject(
          {
            code: 'BOWLINE_CONTROL_PLANE_PORT',
            message: expect.stringContaining(`127.0.0.1:${port}: another process listens on it`),
          },
        );
      } finally {
        await new Promise((resolve) => server.close(resolve));
      }
    },
  );

  it('rejects a number that is not a port', async () => {
    await expect(startControlPlane({ kind: 'kubernetes', port: 70_000 })).rejects.toMatchObject({
      code: 'BOWLINE_CONTROL_PLANE_PORT',
    });
  });
});
