import type { RunningWebhooks, WebhooksOptions } from './webhooks-options.ts';

/**
 * startWebhooks serves an operator's webhooks on this replica and keeps their certificate current. It resolves when it
 * listens. Its dependencies are loaded by the first call, so that processes without webhooks do not pay for them.
 */
export async function startWebhooks(options: WebhooksOptions): Promise<RunningWebhooks> {
  const { runWebhooks } = await import('./run-webhooks.ts');
  return await runWebhooks(options);
}
