import { expect, it } from 'vitest';
import { launchControlPlane } from './launch-control-plane.ts';

it('serves plain HTTP with --plain-http, to anonymous clients only', { timeout: 30_000 }, async () => {
  const { signal } = new AbortController();
  const { controlPlane } = await launchControlPlane('embedded', { plainHttp: true, signal });
  await using _ = controlPlane;
  const { url } = controlPlane;
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect((await fetch(`${url}/version`)).status).toBe(200);

  const { clusters, users } = await controlPlane.kubeconfig('admin');
  expect(clusters).toMatchObject([{ cluster: { server: url } }]);
  const token = 'token' in users[0].user ? users[0].user.token : undefined;
  expect(token).toBeTruthy();
  // A token is not accepted there: another party might have read it in transit.
  for (const headers of [undefined, { authorization: `Bearer ${token}` }]) {
    const answer = await fetch(`${url}/api/v1/namespaces`, headers && { headers });
    expect(await answer.json()).toMatchObject({
      code: 403,
      message: expect.stringMatching(/^namespaces is forbidden: User "system:anonymous" cannot list /),
    });
  }
});
