import { z } from "zod";

const form = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?(?:Z|[+-](\d\d):(\d\d))$/i;

/** PostgreSQL refuses the year 0 and offsets of 16 hours and more; JavaScript accepts both. */
const mostOffsetHours = 15;

/** True for a time of RFC 3339 that PostgreSQL can store and JavaScript can write again. */
export function isMoment(text: string): boolean {
  const [, year, month, day, hour, minute, second = "0", offsetHour = "0", offsetMinute = "0"] =
    form.exec(text) ?? [];
  if (year === undefined) return false;
  const isOnCalendar = Number(day) >= 1 && Number(day) <= daysIn(Number(year), Number(month));
  const isOnClock = Number(hour) <= 23 && Number(minute) <= 59 && Number(second) <= 59;
  const isOffset = Number(offsetHour) <= mostOffsetHours && Number(offsetMinute) <= 59;
  if (!isOnCalendar || !isOnClock || !isOffset) return false;
  const at = new Date(text);
  return at.getUTCFullYear() >= 1 && at.getUTCFullYear() <= 9999;
}

/** True for a day of the calendar, such as 2024-05-01. */
export function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && isMoment(`${text}T00:00:00Z`);
}

/** A time in a request, with any offset. */
export const moment = z.iso
  .datetime({ offset: true })
  .regex(/^(?!0000)/, "must not be in the year 0")
  .regex(/(?:Z|[+-](?:0\d|1[0-5]):\d\d)$/, "must have an offset of less than 16 hours")
  .refine(isMoment, "must be a time of the years 1 to 9999");

/** 0 for a month that does not exist. */
function daysIn(year: number, month: number): number {
  if (month < 1 || month > 12) return 0;
  return new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
}
