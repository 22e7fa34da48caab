/**
 * Reports as pages for a browser: one HTML file each, complete in itself, without network.
 *
 * <p>May use: every package of the library but the command line, Jackson's streaming generator.
 *
 * <p>Conventions: the page is a resource beside the class that fills it, with one place for data;
 * data is JSON in a script element, with {@code <} escaped; a content security policy in the page
 * forbids it to load anything.
 */
package io.prmalloc.report;
