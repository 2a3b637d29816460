/* See yaml_form.h. */
#include "compiler/read/yaml_form.h"

#include <string.h>

/* In the order in which the keys of a file are listed for users. */
static const struct yaml_form forms[YAML_FORMS] = {
	{ "sbx", AST_VERSION, SHAPE_TEXT, true, false, false, "sbx: 1" },
	{ "include", AST_INCLUDE, SHAPE_TEXTS, true, false, false,
	    "include: FILE" },
	{ "let", AST_LET, SHAPE_LETS, true, true, false,
	    "let: { NAME: PATHS }" },
	{ "param", AST_PARAM, SHAPE_NAMES, true, true, true, "param: NAME" },
	{ "groups", AST_GROUP_DEF, SHAPE_BLOCKS, true, false, false, NULL },
	{ "profiles", AST_PROFILE, SHAPE_BLOCKS, true, false, false, NULL },
	{ "about", AST_ABOUT, SHAPE_TEXT, false, true, false, "about: TEXT" },
	{ "use", AST_USE, SHAPE_NAMES, false, true, false, "use: NAME" },
	{ "allow", AST_RULE, SHAPE_RULE, false, true, true,
	    "allow read: PATHS" },
	{ "deny", AST_RULE, SHAPE_RULE, false, true, true,
	    "allow read: PATHS" },
	{ "prefer", AST_RULE, SHAPE_RULE, false, true, true,
	    "prefer deny read: PATHS" },
	{ "watch", AST_RULE, SHAPE_RULE, false, true, true, "watch: PATHS" },
	{ "drop", AST_RULE, SHAPE_RULE, false, true, false,
	    "drop allow read: PATHS" },
	{ "require", AST_REQUIRE, SHAPE_VALUE, false, true, true,
	    "require level: LEVEL" },
	{ "limit", AST_LIMIT, SHAPE_VALUE, false, true, true,
	    "limit timeout: 300s" },
	{ "set", AST_SET, SHAPE_VARIABLES, false, true, true,
	    "set env: { NAME: VALUE }" },
	{ "on", AST_ON, SHAPE_BODY, false, true, false, "on linux: [ ... ]" },
};

const struct yaml_form *
yaml_form_find(const char *word)
{
	for (size_t i = 0; i < countof(forms); i++) {
		if (strcmp(forms[i].word, word) == 0)
			return &forms[i];
	}
	return NULL;
}

const struct yaml_form *
yaml_form_of(enum ast_kind kind)
{
	size_t i = 0;

	while (forms[i].kind != kind)
		i++;
	return &forms[i];
}

void
yaml_form_words(bool in_file, const char *words[YAML_FORMS])
{
	for (size_t i = 0; i < countof(forms); i++)
		words[i] = (in_file ? forms[i].in_file : forms[i].in_body) ?
		    forms[i].word :
		    NULL;
}
