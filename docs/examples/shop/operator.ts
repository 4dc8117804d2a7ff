import { defineOperator } from '@bowline/runtime';
import { shopController } from './controller.ts';
import { Shop } from './shop.ts';

/**
 * shops runs applications with two parts. It is only an example: it writes on behalf of every user who may create a Shop,
 * without checking other permissions.
 */
export const shops = defineOperator({
  name: 'shops',
  domain: 'example.com',
  resources: [Shop],
  controllers: [shopController],
});
