/*
 * Imported before everything else: zod would otherwise compile its schemas with `new Function`, which
 * the page's content security policy refuses and reports.
 */
import { z } from "zod";

z.config({ jitless: true });
