import { expect, it } from 'vitest';
import { temporaryFiles } from '../testing/child-process.test-support.ts';
import { bowline } from '../testing/test-operators.test-support.ts';

it('prints the cluster of the current context and what is unsafe there, and does nothing without confirmation', async () => {
  await using files = await temporaryFiles();
  const KUBECONFIG = await files.write(
    'kubeconfig',
    JSON.stringify({
      clusters: [{ name: 'a', cluster: { server: 'https://cluster.example.com' } }],
      contexts: [{ name: 'a', context: { cluster: 'a' } }],
      'current-context': 'a',
    }),
  );
  const questions: string[] = [];
  const ask = (question: string): Promise<string | undefined> => {
    questions.push(question);
    return Promise.resolve('no');
  };
  const args = ['up', '--control-plane', 'current-context', '--operators', 'badge,sticker'];
  const { code, out, err } = await bowline(args, { env: { KUBECONFIG }, ask });
  expect(questions).toEqual([expect.stringContaining('https://cluster.example.com')]);
  expect(err).toMatch(/caution: sticker: glue is strong\n.*nothing was changed in the cluster.*UP_UNCONFIRMED/s);
  expect({ code, out }).toEqual({ code: 2, out: '' });
});
