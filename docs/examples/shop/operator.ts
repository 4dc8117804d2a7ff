import { defineOperator } from '@bowline/runtime';
import { shopController } from './controller.ts';
import { Shop } from './shop.ts';

/** shops runs applications in two parts. */
export const shops = defineOperator({ name: 'shops', resources: [Shop], controllers: [shopController] });
