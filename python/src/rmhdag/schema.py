"""JSON Schema from type hints, and the check of parameters against them."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import re
import types
import typing
from typing import Any, Callable, Literal, Union, get_args, get_origin

from ._errors import PermanentError

JsonSchema = dict[str, Any]

_simple: dict[Any, JsonSchema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    dict: {"type": "object"},
    list: {"type": "array"},
    type(None): {"type": "null"},
    Any: {},
    inspect.Parameter.empty: {},
}


def schema_of(hint: Any) -> JsonSchema:
    """The schema of one type hint; an unknown hint allows anything."""
    if hint in _simple:
        return dict(_simple[hint])
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [schema_of(each) for each in arguments]}
    if origin in (list, set, frozenset) or (origin is tuple and arguments[1:] == (...,)):
        return {"type": "array", "items": schema_of(arguments[0]) if arguments else {}}
    if origin is tuple:
        items = [schema_of(each) for each in arguments]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    if origin is dict:
        return {"type": "object", "additionalProperties": schema_of(arguments[1])}
    if origin is typing.Annotated:
        return schema_of(arguments[0])
    if inspect.isclass(hint):
        if hasattr(hint, "model_json_schema"):
            return _model_schema(hint)
        if issubclass(hint, enum.Enum):
            return {"enum": [each.value for each in hint]}
        if dataclasses.is_dataclass(hint):
            return _fields(
                {f.name: f.type for f in dataclasses.fields(hint)},
                {f.name for f in dataclasses.fields(hint) if _is_required(f)},
                typing.get_type_hints(hint),
            )
        if typing.is_typeddict(hint):
            required = set(getattr(hint, "__required_keys__", ()))
            return _fields(hint.__annotations__, required, typing.get_type_hints(hint))
    return {}


def _model_schema(model: Any) -> JsonSchema:
    """The schema of a model of pydantic. The names of its definitions tell them from other models'."""
    prefix = re.sub(r"\W", "_", f"{model.__module__}.{model.__qualname__}.")
    schema = dict(model.model_json_schema(ref_template=f"#/$defs/{prefix}{{model}}"))
    if "$defs" in schema:
        schema["$defs"] = {prefix + name: each for name, each in schema["$defs"].items()}
    return schema


def _hoist(schema: JsonSchema) -> JsonSchema:
    """Moves the definitions of nested schemas to the root, where their references look for them."""
    definitions: JsonSchema = {}

    def without(value: Any) -> Any:
        if isinstance(value, list):
            return [without(each) for each in value]
        if not isinstance(value, dict):
            return value
        if isinstance(value.get("$defs"), dict):
            definitions.update(without(value["$defs"]))
        return {name: without(each) for name, each in value.items() if name != "$defs"}

    plain: JsonSchema = without(schema)
    return {**plain, "$defs": definitions} if definitions else plain


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _fields(names: Any, required: set[str], hints: dict[str, Any]) -> JsonSchema:
    properties = {name: schema_of(hints.get(name, Any)) for name in names}
    return {"type": "object", "properties": properties, "required": sorted(required)}


def params_schema(function: Callable[..., Any]) -> JsonSchema:
    """The schema of a handler's parameters: those of the function after the context."""
    hints = _hints(function)
    properties: JsonSchema = {}
    required: list[str] = []
    takes_more = False
    for name, parameter in _own_parameters(function):
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            takes_more = True
            continue
        properties[name] = schema_of(hints.get(name, Any))
        if parameter.default is inspect.Parameter.empty:
            required.append(name)
        elif _is_json(parameter.default):
            properties[name]["default"] = parameter.default
    schema: JsonSchema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    if not takes_more:
        schema["additionalProperties"] = False
    return _hoist(schema)


def result_schema(function: Callable[..., Any]) -> JsonSchema:
    schema = _hoist(schema_of(_hints(function).get("return", Any)))
    return schema if schema.get("type") == "object" else {"type": "object"}


def bind(function: Callable[..., Any], params: dict[str, Any]) -> dict[str, Any]:
    """Checks parameters and turns them into what the hints say. Raises ``PermanentError``."""
    hints = _hints(function)
    known = dict(_own_parameters(function))
    more = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in known.values())
    problems = [f"{name!r} is not known" for name in params if name not in known and not more]
    bound: dict[str, Any] = {}
    for name, parameter in known.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            continue
        if name not in params:
            if parameter.default is inspect.Parameter.empty:
                problems.append(f"{name!r} is missing")
            continue
        try:
            bound[name] = convert(params[name], hints.get(name, Any))
        except (TypeError, ValueError) as error:
            problems.append(f"{name!r} {error}")
    if problems:
        raise PermanentError("the parameters do not fit: " + "; ".join(problems), "INVALID_PARAMS")
    return {**{k: v for k, v in params.items() if k not in known}, **bound}


def convert(value: Any, hint: Any) -> Any:
    """One value as its hint says, or ``ValueError``."""
    number: Any = value
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any or hint is inspect.Parameter.empty:
        return value
    if origin in (Union, types.UnionType):
        for each in arguments:
            try:
                return convert(value, each)
            except (TypeError, ValueError):
                continue
        raise ValueError(f"does not fit {hint}")
    if origin is Literal:
        if value in arguments:
            return value
        raise ValueError(f"must be one of {', '.join(map(str, arguments))}")
    if origin is typing.Annotated:
        return convert(value, arguments[0])
    if origin in (list, set, frozenset, tuple) and arguments:
        if not isinstance(value, list):
            raise ValueError(f"must be a list, not {value!r}")
        return origin(_convert_items(value, origin, arguments))
    if origin is dict and isinstance(value, dict):
        return {name: convert(each, arguments[1]) for name, each in value.items()}
    if inspect.isclass(hint):
        if hasattr(hint, "model_validate"):
            return hint.model_validate(value)
        if issubclass(hint, enum.Enum):
            return hint(value)
        if dataclasses.is_dataclass(hint) and isinstance(value, dict):
            hints = typing.get_type_hints(hint)
            return hint(**{name: convert(each, hints.get(name, Any)) for name, each in value.items()})
    expected = _python_types.get(origin or hint)
    if expected is None:
        return value
    is_bool = isinstance(value, bool) and bool not in expected
    if is_bool or not isinstance(value, expected):
        raise ValueError(f"must be {_names.get(origin or hint, hint)}, not {value!r}")
    return float(number) if hint is float else value


def _convert_items(values: list[Any], origin: Any, arguments: tuple[Any, ...]) -> list[Any]:
    if origin is not tuple or arguments[1:] == (...,):
        return [convert(each, arguments[0]) for each in values]
    if len(values) != len(arguments):
        raise ValueError(f"must have {len(arguments)} items, not {len(values)}")
    return [convert(each, hint) for each, hint in zip(values, arguments)]


_python_types: dict[Any, tuple[type, ...]] = {
    str: (str,),
    int: (int,),
    float: (int, float),
    bool: (bool,),
    dict: (dict,),
    list: (list,),
    type(None): (type(None),),
}
_names: dict[Any, str] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "an object",
    list: "a list",
    type(None): "null",
}


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function)
    except NameError:
        return {}


def _own_parameters(function: Callable[..., Any]) -> list[tuple[str, inspect.Parameter]]:
    return list(inspect.signature(function).parameters.items())[1:]


def _is_json(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float, bool, list, dict))
