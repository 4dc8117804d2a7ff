// The part of the scenario that the killed process needs.
import { ignitionSync } from '@bowline/ignition-sync';
import type { Operator } from '@bowline/runtime';

// No API server calls the webhooks, and every start would wait for that.
export const operator: Operator = { ...ignitionSync, webhooks: [] };

// Only the proof creates IgnitionSyncs here, and requests are written as the receiver does.
export const config = { trustAllAuthors: true, webhookReceiverPort: 0 };
