// The part of the scenario that the killed process needs.
import type { Operator } from '@bowline/runtime';
import { ztwim } from '@bowline/ztwim';

// No API server calls the webhooks, and every start would wait for that.
export const operator: Operator = { ...ztwim, webhooks: [] };

export const config = { platform: 'kubernetes' };
